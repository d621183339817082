"""Whatever a public function is given, it answers or says in words why it does not.

Only ValueError, TypeError, MemoryError (and OSError and ImportError where a file or a package is
missing) leave the library, and no warning but its own; no input is changed; no answer is NaN.

500 calls by default. ``RELDEP_FUZZ=20000`` makes as many, in another order every time.
"""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fuzzing

CALLS = int(os.environ.get("RELDEP_FUZZ", "500"))
FUNCTIONS = fuzzing.functions()


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(
    max_examples=max(1, CALLS // len(FUNCTIONS)),
    derandomize="RELDEP_FUZZ" not in os.environ,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_every_call_is_answered_or_refused_in_words(name, data):
    call = data.draw(fuzzing.calls(name), label="call")
    outcome = fuzzing.judge(call, data.draw)
    assert outcome.word in ("answered", "refused"), outcome.problem


def test_the_functions_are_read_off_the_package():
    assert {"compare", "rank", "contrast", "dependence", "hsic", "rotation"} <= set(FUNCTIONS)
