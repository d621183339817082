"""Each experiment is run once, quick and with seed 0; the tests read what it wrote."""

from __future__ import annotations

import pytest

from reproduction import reproduce


@pytest.fixture(scope="session")
def quick(tmp_path_factory):
    """Return the folder of a quick run of an experiment."""
    folders = {}

    def run(name):
        if name not in folders:
            folders[name] = tmp_path_factory.mktemp(name) / "made" / "anew"
            paths = reproduce(name, out=str(folders[name]))
            assert sorted(paths) == sorted(folders[name].iterdir())
            assert paths[0] == folders[name] / f"{name}.md"
        return folders[name]

    return run
