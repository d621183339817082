"""Waiting for a caution by its full words, which the Python warning only points to."""

import re
from contextlib import contextmanager

import pytest


@contextmanager
def cautioned(kind, match):
    """Expect a warning of a kind whose caution, in the answer, has the words of `match`."""
    with pytest.warns(kind) as caught:
        yield caught
    said = [str(one.message.__cause__) for one in caught if one.message.__cause__ is not None]
    assert any(re.search(match, words) for words in said), said
