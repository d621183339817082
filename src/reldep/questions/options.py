"""The options that questions share. To add one, add it here: nothing else lists them.

Annotations are read when a question is imported, so the names in them are imported at run time.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypedDict

import numpy as np

from reldep.arguments import Argument, check_choice, check_count, check_level
from reldep.data.frames import TimeOrder
from reldep.exceptions import InputError, InputTypeError
from reldep.files.read import words
from reldep.kernels.base import Kernel
from reldep.kernels.choosing import NAMED, kernel_class

# By convention: the smallest p-value is then one in a thousand.
N_PERMUTATIONS = 999
DATA = "array_like, series, frame or column names"
Measure = Literal["cka", "hsic", "dcor"]
Alternative = Literal["two-sided", "greater", "less"]
Variance = Literal["jackknife", "fixed-kernel"]
Missing = Literal["raise", "drop"]
Lag = int | Literal["auto"] | None


def variable(text: str, default: Any = Argument.default, in_words: str = "") -> Argument:
    """Return the argument for one variable of a question."""
    return Argument(
        text, default, DATA, "one", panel="", metavar="COLS", parse=words, in_words=in_words
    )


def variables(text: str, default: Any = Argument.default, **more: Any) -> Argument:
    """Return the argument for several variables: each column is one, and each ``NAME=COLS``."""
    shown = "mapping of str to data, data frame, array or column names"
    more.setdefault("in_words", "Each column is one of them, and each NAME=COLS.")
    return Argument(text, default, shown, "several", panel="", metavar="COLS", parse=words, **more)


One = Annotated[Any, variable("One variable.")]
Other = Annotated[Any, variable("The other.")]
Source = Annotated[Any, variable("The variable that is related to both targets.")]
First = Annotated[Any, variable("The first target.")]
Second = Annotated[Any, variable("The second target.")]


def number(given: str) -> Any:
    """Return a number if the word is one, else the word, which the check refuses."""
    for kind in (int, float):
        try:
            return kind(given)
        except ValueError:
            pass
    return given


def parse_kernels(given: Sequence[str]) -> Any:
    """Return the kernel of the word ``KERNEL``, or those of several ``NAME=KERNEL`` by name.

    Examples
    --------
    >>> parse_kernels(["diet=delta", "lipids=gaussian:2"])
    {'diet': 'delta', 'lipids': Gaussian(bandwidth=2, factor=1.0)}
    """
    if len(given) == 1 and "=" not in given[0]:
        return parse_kernel(given[0])
    pairs = [(name, kernel) for name, _, kernel in (word.rpartition("=") for word in given)]
    found = {name: parse_kernel(kernel) for name, kernel in pairs if name}
    if len(found) < len(given):
        raise InputError(
            f"`kernel` is given {len(given)} times; write NAME=KERNEL for each, and each name once."
        )
    return found or "auto"


def parse_kernel(word: str) -> str | Kernel:
    """Return a kernel by its name, or by its name and its first parameter after a colon.

    Examples
    --------
    >>> parse_kernel("laplace:0.5*median")
    Laplace(bandwidth='median', factor=0.5)
    """
    name, colon, parameter = word.partition(":")
    if not colon:
        return word
    check_choice("kernel", name.lower(), NAMED)
    factor, star, value = parameter.rpartition("*")
    more = {"factor": number(factor)} if star else {}
    try:
        return kernel_class(name.lower())(number(value), **more)
    except (InputError, InputTypeError) as error:
        raise InputError(f"`kernel={word!r}` cannot be used: {error}") from error
    except TypeError as error:
        raise InputError(
            f"`kernel={word!r}`: {name} does not have this parameter; write `kernel={name!r}`."
        ) from error


def clusterings(given: str | Sequence[str]) -> str | tuple[str, ...]:
    """Return one column of labels, or a tuple of the columns of crossed clusterings."""
    found = words(given)
    return found if isinstance(found, str) else tuple(found)


def check_seed(name: str, value: Any) -> None:
    """Raise InputError for a seed that NumPy does not take."""
    wrong = isinstance(value, (str, float)) or (isinstance(value, (int, np.integer)) and value < 0)
    if wrong:
        raise InputError(f"`{name}={value!r}`; pass a whole number from 0 on, or a generator.")


def check_lag(lag: Any, n: int, time: TimeOrder | None = None) -> None:
    """Raise if a lag is not a whole number below n, or rows are not in the order of time."""
    if time is not None and not time.is_sorted:
        words = f"`max_lag={lag!r}` needs rows in the order of time, but {time.column!r} is not in"
        raise InputError(f"{words} order; sort the rows by it, or ask about one of several series.")
    is_whole = isinstance(lag, (int, np.integer)) and not isinstance(lag, bool)
    if not (is_whole and 0 <= lag < n) and not (isinstance(lag, str) and lag == "auto"):
        raise InputError(
            f"`max_lag={lag!r}` does not fit {n} observations; pass a whole number below {n}."
        )


def repetitions(text: str, default: int = N_PERMUTATIONS) -> Argument:
    """Return the argument for a number of random draws."""
    return Argument(text, default, parse=number, check=check_count, metavar="N")


VARIANCE = Argument(
    '"jackknife" leaves out every row in turn and uses Student\'s t. "fixed-kernel" is the '
    "published variance with the normal law, for independent rows.",
    "jackknife",
)
GIVEN = "Covariates to hold fixed, such as age and sex: numbers or labels."
ENGINE = 'Name of an engine, or an object of reldep.engine; "auto" chooses.'
COLUMNS = Argument(
    "Where the columns are. Variables, `given` and `clusters` are then words: a name, a pattern "
    "(C*), a range (C14:C22), any of these under a name (lipids=C*), or a list of words. To "
    "choose rows, name them or mark missing values, pass a table of `reldep.read`.",
    None,
    "path, reldep.read() or data frame",
)
Data = Annotated[Any, COLUMNS]
KERNEL = Argument(
    'One for all variables, a tuple in their order, or a mapping by name. "auto" uses Laplace at '
    'the mean distance for numbers and Delta for labels; "standardized" first puts the columns of '
    "a variable on the same scale. See reldep.kernels.",
    "auto",
    "str, Kernel, callable, tuple or mapping",
    parse=parse_kernels,
    is_list=True,
    metavar="KERNEL",
    in_words="A kernel for all variables, or NAME=KERNEL for one of them; several if "
    "repeated: auto, gaussian, gaussian:0.5*median, gaussian:2.0, laplace, linear, "
    "polynomial:3, delta, distance, standardized and others.",
)


class Kernels(TypedDict, total=False):
    """The kernels of the variables."""

    kernel: Annotated[Any, KERNEL]


MISSING = Argument(
    '"raise" refuses incomplete rows, "drop" leaves them out.', "raise", panel="Data"
)


class Basic(TypedDict, total=False):
    """The options of every question."""

    missing: Annotated[Missing, MISSING]
    engine: Annotated[Any, Argument(ENGINE, "auto", "str or engine", metavar="NAME")]


RNG = Argument(
    "Random seed; None is a fixed seed, so answers are reproducible.",
    None,
    "int or numpy.random.Generator",
    parse=number,
    check=check_seed,
    in_words="Random seed; answers are reproducible without it, too.",
    flags=("--seed",),
    metavar="N",
)


class Seeded(TypedDict, total=False):
    """The seed of random steps, and where the columns are."""

    rng: Annotated[Any, RNG]
    data: Data


MEASURE = Argument(
    "Centred kernel alignment, raw HSIC or squared distance correlation. Raw HSIC also "
    "counts how much a target varies in itself.",
    "cka",
)


class Measured(TypedDict, total=False):
    """The measure of dependence."""

    measure: Annotated[Measure, MEASURE]


ALTERNATIVE = Argument(
    'The claim to test: any difference, "greater" (the first is stronger) or "less".',
    "two-sided",
)


class Directed(TypedDict, total=False):
    """The direction of a test."""

    alternative: Annotated[Alternative, ALTERNATIVE]


class Assessed(TypedDict, total=False):
    """How errors are assessed."""

    variance: Annotated[Variance, VARIANCE]


CLUSTERS = Argument(
    "One label per row; rows with the same label may depend on each other. A tuple of two for "
    "clusters that cross each other.",
    None,
    "array_like or column name",
    "labels",
    parse=clusterings,
    metavar="COL",
    in_words="The column of labels: rows with the same label may depend on each other. Two "
    "columns for clusters that cross each other.",
)
MAX_LAG = Argument(
    "For rows in time order: rows up to this many steps apart may depend on each other. "
    '"auto" chooses the number from the data. Excludes `clusters`.',
    None,
    'int or "auto"',
    parse=number,
    metavar="N",
    label="Longest lag",
)


class Rows(Assessed, total=False):
    """Which rows may depend on each other."""

    clusters: Annotated[Any, CLUSTERS]
    max_lag: Annotated[Lag, MAX_LAG]


class Conditioned(TypedDict, total=False):
    """Covariates."""

    given: Annotated[Any, Argument(GIVEN, None, DATA, "covariates", parse=words, metavar="COLS")]


NAMES = Argument("Names in the answer, in the order of the variables.", None, "sequence of str")


class Named(TypedDict, total=False):
    """Names in the answer."""

    names: Annotated[Sequence[str] | None, NAMES]


class Shared(Measured, Kernels, Conditioned, Basic, Seeded, total=False):
    """The options that all questions share."""


class Options(Measured, Kernels, Rows, Conditioned, Basic, Seeded, total=False):
    """The options that most questions share."""


CONFIDENCE_LEVEL = Argument(
    "Of the intervals, which hold for all variables at once.",
    0.95,
    parse=number,
    check=check_level,
)


class Simultaneous(TypedDict, total=False):
    """Of intervals that hold for many variables at once."""

    confidence_level: Annotated[float, CONFIDENCE_LEVEL]
    n_simulations: Annotated[
        int, repetitions("Number of draws from the joint law of the estimates.", 10_000)
    ]


def generator(options: Mapping[str, Any]) -> np.random.Generator:
    """Return the generator of all random steps; `rng=None` is a fixed seed."""
    seed = options["rng"]
    return np.random.default_rng(0 if seed is None else seed)
