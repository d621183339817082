"""Files for the tests of tables."""

import io
import sys

import pytest


@pytest.fixture
def pipe(monkeypatch):
    """Put bytes into standard input; return its name."""

    def put(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        return "-"

    return put


@pytest.fixture
def write(tmp_path):
    """Write a file of this name and content; return its path."""

    def write_file(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file
