"""Whatever a public function is given, it answers or says in words why it does not.

Only ValueError, TypeError, MemoryError (and OSError and ImportError where a file or a package is
missing) leave the library, and no warning but its own; no input is changed; no answer is NaN.

500 calls by default. ``RELDEP_FUZZ=20000`` makes as many, in another order every time.

The functions are read off ``reldep.__all__`` and their arguments off their signatures, so that a
new function is drawn as soon as it is public. Arguments are known by name; one of an unknown name
gets anything. Most draws are nearly right, so that they reach the arithmetic.
"""

import functools
import inspect
import math
import os
import pickle
import traceback
import warnings
from dataclasses import dataclass, field
from typing import get_args

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import HealthCheck, settings
from hypothesis import given as drawing
from hypothesis import strategies as st

import reldep
from reldep import kernels
from reldep.engine.choose import ENGINES
from reldep.exceptions import ReldepWarning

ALLOWED = (ValueError, TypeError, MemoryError, ImportError, OSError)

EXTREMES = [
    *(0.0, -0.0, 1.0, -1.0, 5e-324, 1e-308, 1e-170, 1e-8, 1e8, 1e16, 1e19, 1e154, 1e155, 1e200),
    *(9.97e36, 1.7e308, -1.7e308, math.inf, -math.inf, math.nan),
]
DTYPES = ["f8", "f4", "f2", "i8", "i1", "u1", "u8", "?", "c16", "g", "O", "U3", "M8[s]", "m8[s]"]
ODD = st.sampled_from(
    [None, "", "x", 0, -1, 10**400, 0.5, math.nan, math.inf, (), [], {}, b"", object, 1j, True]
)

# Functions that take no data, and methods that need a path or take long; `attack` does these.
SLOW_METHODS = ("plot", "to_html")


def functions():
    """Name the public functions."""
    public = ((name, getattr(reldep, name)) for name in reldep.__all__)
    return [name for name, thing in public if inspect.isfunction(inspect.unwrap(thing))]


@dataclass
class Call:
    """A drawn call, with what it was given as it was before."""

    function: str
    positional: tuple
    options: dict
    after: list = field(default_factory=list)

    def __repr__(self):
        words = [repr(value) for value in self.positional]
        words += [f"{name}={value!r}" for name, value in self.options.items()]
        after = "".join(f".{name}(**{given!r})" for name, given in self.after)
        return f"reldep.{self.function}({', '.join(words)}){after}"


# --- data ------------------------------------------------------------------------------------


def _many(usual, *seldom):
    """Draw the usual six times as often as anything else."""
    return st.one_of(*[usual] * 6, *seldom)


@st.composite
def numbers_of(draw, n):
    """Draw `n` rows of numbers that a question can be asked about, on any scale."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    shape = draw(st.sampled_from([(n,), (n,), (n, 1), (n, 2), (n, 3)]))
    few = draw(st.integers(0, 3)) == 0
    values = rng.integers(0, 3, shape).astype(float) if few else rng.normal(size=shape)
    values *= draw(_many(st.just(1.0), st.sampled_from([1e-170, 1e-8, 1e8, 1e100, 1e155, 1e200])))
    values += draw(_many(st.just(0.0), st.sampled_from([1e8, 1e16, 1e200])))
    if draw(st.integers(0, 5)) == 0:
        values.flat[draw(st.integers(0, values.size - 1))] = draw(st.sampled_from(EXTREMES))
    return values


@st.composite
def odd_arrays(draw, n):
    """Draw an array of an odd shape or type."""
    rows = draw(st.sampled_from([n, n, n, 0, 1, n + 1]))
    values = draw(numbers_of(max(rows, 1)))[:rows]
    shape = draw(st.sampled_from([None, None, (rows, 0), (rows, 1, 1), (1, rows)]))
    if shape is not None:
        values = np.resize(values, shape) if 0 not in shape else np.empty(shape)
    dtype = draw(st.sampled_from(DTYPES))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return (values.astype("i8") if dtype[0] in "Mm" else values).astype(dtype)


def _cycle(cells, n):
    return [cells[i * 7 // 3 % len(cells)] for i in range(n)]


def labels_of(n):
    cells = [["a", "b", "c"], [True, False], [1, 2, 3], ["one two", "two three", "three"]]
    return st.sampled_from(cells).map(lambda found: _cycle(found, n))


def odd_cells(n):
    """Draw lists of things that are hardly data."""
    cells = [
        *([None, "a", "b"], [1, "a", 2.5], [{"a"}, {"a", "b"}, set()], [b"x", b"y"]),
        *([np.longdouble(1), np.longdouble(2)], [10**400, 1, 2], [object(), object()]),
        *([[1, 2], [3]], [math.nan, 1.0, 2.0], ["\x1b[31m", "\x00", "\ud800"], [1j, 2j]),
    ]
    made = st.sampled_from(cells).map(lambda found: _cycle(found, n))
    return st.one_of(made, made.map(lambda found: np.array([*found, None], dtype=object)[:-1]))


@st.composite
def framed(draw, values):
    """Put values into a container, if it takes them."""
    table = values[:, None] if values.ndim == 1 else values
    names = [f"c{i}" for i in range(table.shape[1])]
    make = draw(
        st.sampled_from(
            [
                lambda: pd.DataFrame(table, columns=names),
                lambda: pd.DataFrame(table, columns=names).convert_dtypes(),
                lambda: pd.DataFrame(table, columns=names, index=range(5, 5 + len(table))),
                lambda: pd.Series(table[:, 0]) if names else pd.Series(dtype="Float64"),
                lambda: pl.DataFrame(table, schema=names),
                lambda: pl.Series("s", table[:, 0]) if names else pl.Series("s", []),
                lambda: scipy.sparse.csr_array(table),
                lambda: pd.DataFrame({"n": table[:, 0], "w": _cycle("ab", len(table))}),
            ]
        )
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return make()
    except Exception:  # the container refuses such values: nothing to test
        return values


def data(n, *, odd):
    """Draw one variable in any container."""
    if odd:
        arrays = odd_arrays(n)
        return st.one_of(arrays, arrays.flatmap(framed), arrays.map(list), odd_cells(n), ODD)
    numbers = numbers_of(n)
    return _many(
        numbers, labels_of(n), numbers.map(lambda found: found.tolist()), numbers.flatmap(framed)
    )


# --- options ---------------------------------------------------------------------------------

LEVELS = [0.05, 0.5, 0.8, 0.9, 0.95]
NUMBERS = [0.0, 1.0, 2.0, -1.0, 1e-200, 1e-170, 1e160, 1e308, math.nan, math.inf, *LEVELS]
COUNTS = [0, 1, 2, 3, 5, -1, 2.5, "many", None, True, 10**30, math.nan]
NAMES = ("a", "b", "c")
PAIRS = [("a", "b"), ("a", "c"), ("b", "c")]


def kernel_objects(n):
    """Draw kernels not made yet, since the making may be refused."""
    number = st.one_of(st.sampled_from([1.0, 0.5, 2.0, "median"]), st.sampled_from(NUMBERS), ODD)
    later, count = functools.partial(st.builds, functools.partial), st.sampled_from(COUNTS)
    return st.one_of(
        later(st.just(kernels.Gaussian), number),
        later(st.just(kernels.Laplace), number, factor=number),
        later(st.just(kernels.Distance), number),
        later(st.just(kernels.Polynomial), count, number),
        later(st.just(kernels.Periodic), number),
        later(st.just(kernels.Precomputed), numbers_of(n).map(_products)),
        later(st.just(kernels.Precomputed), st.one_of(st.just(np.eye(5)), odd_arrays(n))),
    )


def _products(values):
    with np.errstate(all="ignore"):
        return np.multiply.outer(values, values) if values.ndim == 1 else values @ values.T


def kernel(n, *, odd):
    if odd:
        one = st.one_of(kernel_objects(n), ODD)
        return st.one_of(one, st.tuples(one, one), st.tuples(one, one, one))
    return st.sampled_from(["auto", "gaussian", "laplace", "linear", "delta", "distance"])


def weights(*, odd):
    if not odd:
        return st.sampled_from([{PAIRS[0]: 1, PAIRS[1]: -1}, {PAIRS[0]: 1.0}, [1.0, -2.0, 0.5]])
    pair = st.sampled_from([*PAIRS, ("a", "a"), ("a", "d"), "a"])
    number = st.sampled_from(NUMBERS)
    return st.one_of(st.dictionaries(pair, number, max_size=3), st.lists(number, max_size=4), ODD)


def _usual(n):
    """Return right values of options whose types do not list them, by name."""
    return {
        **dict.fromkeys(("alpha", "delta", "confidence_level", "power"), LEVELS),
        **dict.fromkeys(("n", "k"), (1, 2, 5, 100)),
        "engine": ["auto", *ENGINES, reldep.Tiled(threads=1)],
        "rng": [None, 0, 1],
        "max_lag": [None, "auto", 0, 1, 3, n],
        "names": [None],
        "factors": [(0.5, 1.0, 2.0), (1.0,)],
        "pairs": [[PAIRS[0]], PAIRS],
        "n_permutations": [19, 99],
        "n_simulations": [200],
        "exponent": [0.5, 1.0, 1.5],
        "constant": [0.0, 1.0],
        "data": [None],
    }


def argument(parameter, n, *, odd):
    """Draw an argument by its name and type: right ones, or `odd` ones."""
    name = parameter.name
    if name in ("variables", "targets", "columns", "sources"):
        table = st.fixed_dictionaries({each: data(n, odd=odd) for each in NAMES})
        return st.one_of(table, data(n, odd=odd)) if odd else table
    if name in ("source", "first", "second", "x", "y"):
        return data(n, odd=odd)
    if name in ("by", "clusters", "given"):
        return data(n, odd=odd) if odd else labels_of(n)
    if name == "kernel":
        return kernel(n, odd=odd)
    if name == "weights":
        return weights(odd=odd)
    words = [word for word in get_args(parameter.annotation) if isinstance(word, str)]
    right = _usual(n).get(name) or words
    if odd or not right:
        more = st.sampled_from([*NUMBERS, *COUNTS])
        return st.one_of(ODD, more, st.lists(more, max_size=3))
    return st.sampled_from(right)


@st.composite
def given(draw, function, n, *, share):
    """Draw arguments for a signature: all that it requires and some options, few of them odd."""
    odd = st.integers(0, draw(st.sampled_from([0, 5, 20, 20]))).map(lambda found: found == 1)
    positional, options = [], {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += draw(st.lists(data(n, odd=draw(odd)), max_size=2))
        elif parameter.default is parameter.empty:
            positional.append(draw(argument(parameter, n, odd=draw(odd))))
        elif draw(st.integers(0, share)) == 0:
            options[name] = draw(argument(parameter, n, odd=draw(odd)))
    return tuple(positional), options


@st.composite
def calls(draw, name):
    """Draw a call of the public function `name`."""
    n = draw(st.sampled_from([30, 30, 30, 12, 20, 40, 3, 4, 5, 8]))
    positional, options = draw(given(getattr(reldep, name), n, share=3))
    return Call(name, positional, options)


# --- the judgement ---------------------------------------------------------------------------


def frozen(value):
    """Give bytes that change if `value` changes."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return (value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, (pd.DataFrame, pd.Series)):
        # Not pickled: what pandas keeps for later goes into the bytes, too.
        table = value.to_frame() if isinstance(value, pd.Series) else value
        return (
            str(table.dtypes),
            table.index.tolist(),
            [repr(column.tolist()) for _, column in table.items()],
        )
    try:
        return pickle.dumps(value)
    except Exception:
        return repr(value)


def judge(call, draw):
    """Make a call, then those methods of its answer that `draw` chooses; say what came of it."""
    inputs = (*call.positional, *call.options.values())
    before = [frozen(value) for value in inputs]
    function = getattr(reldep, call.function)

    def action():
        options = {name: _made(value) for name, value in call.options.items()}
        return function(*call.positional, **options)

    word, answer = _guarded(action)
    assert before == [frozen(value) for value in inputs], "input mutated"
    names = [] if answer is None else methods(answer)
    for name in draw(st.lists(st.sampled_from(names), max_size=2, unique=True)) if names else ():
        method = getattr(answer, name)
        positional, given_options = draw(given(method, 30, share=1))
        bound = inspect.signature(method).bind(*positional, **given_options).arguments
        call.after.append((name, dict(bound)))
        _guarded(functools.partial(method, *positional, **given_options))
    return word


def _made(value):
    if isinstance(value, tuple):
        return tuple(_made(part) for part in value)
    return value() if isinstance(value, functools.partial) else value


def methods(answer):
    names = [name for name in dir(type(answer)) if not name.startswith("_")]
    chosen = [
        name
        for name in names
        if name not in SLOW_METHODS and inspect.isfunction(getattr(type(answer), name, None))
    ]
    return chosen or ["__repr__"]


def _guarded(action):
    """Return "answered" with the answer, or "refused"; anything else is an AssertionError."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            word, answer = "answered", action()
        except ALLOWED as error:
            word, answer = "refused" if str(error) else "refused without a word", None
        except Exception as error:
            raise AssertionError(_where(error)) from error
    for found in caught:
        place = f"{found.filename}:{found.lineno}"
        is_own = issubclass(found.category, ReldepWarning)
        assert is_own, f"{found.category.__name__}: {found.message} ({place})"
    wrong = _not_a_number(answer)
    assert not wrong, wrong
    return word, answer


def _not_a_number(answer):
    """Say where an answer is NaN."""
    if isinstance(answer, float):
        return "the answer is NaN" if math.isnan(answer) else ""
    for name in ("estimate", "standard_error", "statistic", "pvalue"):
        value = getattr(answer, name, None)
        if isinstance(value, float) and math.isnan(value):
            return f"{name} is NaN"
    return ""


def _where(error):
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "reldep" in frame.filename] or frames
    place = f"{own[-1].filename.rpartition('reldep/')[2]}:{own[-1].lineno}"
    return f"{type(error).__name__}: {str(error)[:120]} ({place})"


# --- the test ------------------------------------------------------------------------------------

CALLS = int(os.environ.get("RELDEP_FUZZ", "500"))
FUNCTIONS = functions()


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(
    max_examples=max(1, CALLS // len(FUNCTIONS)),
    derandomize="RELDEP_FUZZ" not in os.environ,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
@drawing(call_data=st.data())
def test_every_call_is_answered_or_refused_in_words(name, call_data):
    call = call_data.draw(calls(name), label="call")
    assert judge(call, call_data.draw) in ("answered", "refused")


def test_the_functions_are_read_off_the_package():
    assert {"compare", "rank", "contrast", "dependence", "hsic", "rotation"} <= set(FUNCTIONS)
