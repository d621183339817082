"""Every Python example in README and docs runs, and so do the gallery's scripts."""

from __future__ import annotations

import re
import runpy
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def has_code(page):
    return bool(PYTHON_BLOCK.search(page.read_text()))


def named(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [p for p in PAGES if has_code(p)], ids=named)
def test_examples_of_a_page_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for block in PYTHON_BLOCK.findall(page.read_text()):
            exec(compile(block, named(page), "exec"), names)  # noqa: S102
    assert names


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("plot_*.py")), ids=named)
def test_gallery_scripts_run(script):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert "reldep" in runpy.run_path(str(script))


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:\s]+\.(?:md|png|svg|cff))\)", page.read_text()):
            assert (page.parent / target).exists(), f"{named(page)} links to {target}"
