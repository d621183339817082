"""Numbers, lists, names and cells in plain words: one way to write each of them."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

# Names, and characters of a cell, that a message shows: it stays within three lines of a terminal.
_SHOWN, _LONGEST_CELL = 6, 40

# An argument in a message: `kernel` or `missing='drop'`.
_ARGUMENT = re.compile(r"`(\w+)(?:=([^`]+))?`(?: to reldep\.read\(\))?")

MEASURE_NAMES = {"hsic": "HSIC", "cka": "CKA", "dcor": "squared distance correlation"}

# Numbers outside these limits are written with a power of ten. Six digits before the decimal
# point, or four zeros after it, are as many as can be read at a glance.
LARGEST_WRITTEN_OUT, SMALLEST_WRITTEN_OUT = 1e6, 1e-4

# The smallest p-value that is printed: double precision ends just below it.
SMALLEST_PVALUE = 1e-300


def number(value: float, digits: int = 3) -> str:
    """Return a number with a few significant digits, as in a sentence.

    Examples
    --------
    >>> number(0.62), number(-0.0042), number(0.0), number(1.5e-7), number(12345.6)
    ('0.620', '−0.00420', '0', '1.50e-7', '12,346')
    """
    return numbers([value], digits)[0]


def numbers(values: Iterable[float], digits: int = 3) -> list[str]:
    """Return numbers that belong together with the same number of decimals.

    The largest has `digits` significant digits, or up to three more if another would be written
    as 0 and is not. An exact 0 or 1 is a limit, not an estimate, and is written without decimals.

    Examples
    --------
    >>> numbers([0.267, 0.0478, 0.47712])
    ['0.267', '0.048', '0.477']
    >>> numbers([0.106, -0.0002, 0.4156])
    ['0.1060', '−0.0002', '0.4156']
    >>> numbers([0.8912, 0.78, 1.0])
    ['0.891', '0.780', '1']
    """
    given = list(values)
    own = [value for value in given if value not in (0.0, 1.0)]
    for more in range(4):
        texts = aligned(own, digits + more)
        if all(map(_SIGNIFICANT, texts)):
            break
    else:
        texts = aligned(own, digits)
    written = map(in_prose, texts)
    return [f"{value:g}" if value in (0.0, 1.0) else next(written) for value in given]


# Whether a written number has a digit other than 0, or is no number.
_SIGNIFICANT = re.compile("[1-9n]").search


def in_prose(written: str) -> str:
    """Return a written number with a minus sign in place of a hyphen."""
    return f"−{written[1:]}" if written.startswith("-") else written


def aligned(values: Iterable[float], digits: int = 3) -> list[str]:
    """Return numbers with the same number of decimals, as in the column of a table.

    Examples
    --------
    >>> aligned([0.62, 0.0042, -0.05])
    ['0.620', '0.004', '-0.050']
    """
    given = list(values)
    largest = max([abs(value) for value in given if math.isfinite(value)], default=0.0)
    if largest and not SMALLEST_WRITTEN_OUT <= largest < LARGEST_WRITTEN_OUT:
        return [_power_of_ten(value, digits) for value in given]
    decimals = max(digits - 1 - math.floor(math.log10(largest)), 0) if largest else 0
    # Adding 0.0 turns a negative zero into zero.
    return [f"{round(value, decimals) + 0.0:,.{decimals}f}" for value in given]


def _power_of_ten(value: float, digits: int) -> str:
    """Return a number as 1.5e-7; 0 and infinity have no power of ten."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def pvalue_number(value: float) -> str:
    """Return a p-value as in the cell of a table: "0.041", "3.2e-7", "> 0.99", "< 1e-300".

    Examples
    --------
    >>> [pvalue_number(p) for p in (0.4, 0.0412, 3.2e-7, 0.9951, 0.0)]
    ['0.40', '0.041', '3.2e-7', '> 0.99', '< 1e-300']
    """
    if value < SMALLEST_PVALUE:
        return f"< {SMALLEST_PVALUE:g}"
    if value < 1e-3:
        return _power_of_ten(value, 2)
    return "> 0.99" if value > 0.99 else aligned([value], 2)[0]


def pvalue_text(value: float) -> str:
    """Return a p-value as in a sentence.

    Examples
    --------
    >>> pvalue_text(0.0412), pvalue_text(0.9951)
    ('p = 0.041', 'p > 0.99')
    """
    written = pvalue_number(value)
    return f"p {written}" if written[0] in "<>" else f"p = {written}"


def interval_text(low: float, high: float) -> str:
    """Return an interval as in a sentence.

    Examples
    --------
    >>> interval_text(-0.2034, 0.415)
    '−0.203 to 0.415'
    """
    return " to ".join(numbers([low, high]))


def percent(level: float) -> str:
    """Return a level as a percentage."""
    return f"{100 * level:.6g}%"


def listed(words: Sequence[str], limit: int = 8) -> str:
    """Return a few words with commas, and how many more there are."""
    shown = ", ".join(words[:limit])
    return shown + (f" and {len(words) - limit} more" if len(words) > limit else "")


def either(words: Sequence[str], limit: int = 8) -> str:
    """Return words as alternatives, and how many more there are.

    Examples
    --------
    >>> either(["a"]), either(["a", "b", "c"]), either(["a", "b", "c"], 2)
    ('a', 'a, b or c', 'a, b or 1 more')
    """
    shown = [*words[:limit], *([f"{len(words) - limit} more"] if len(words) > limit else [])]
    return " or ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def counted(n: int, one: str, several: str | None = None) -> str:
    """Return how many there are of something.

    Examples
    --------
    >>> counted(1, "entry", "entries"), counted(1200, "row"), counted(1, "row")
    ('1 entry', '1,200 rows', '1 row')
    """
    return f"{n:,} {one if n == 1 else several or f'{one}s'}"


def in_one_line(name: str) -> str:
    r"""Return a column's name without line breaks, which would break the lines of an answer.

    Examples
    --------
    >>> in_one_line("age\n(years)")
    'age (years)'
    """
    return name if name.isprintable() else " ".join(name.split())


def spelled(message: str, write: Callable[[str, str | None], str]) -> str:
    """Return a message with the arguments in backticks as a front end writes them.

    There the options of ``reldep.read`` stand beside those of the question.

    Parameters
    ----------
    message : str
    write : callable
        Returns an argument as the front end writes it, from its name and its value. A value is
        a string without its quotes, and None where there is none or where it is True.

    Examples
    --------
    >>> spelled("use `missing='drop'` or `paper=True`", lambda name, value: f"--{name} {value}")
    'use --missing drop or --paper None'
    """

    def written(found: re.Match[str]) -> str:
        value = found[2]
        if value == "True":
            value = None
        elif value is not None and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        return write(found[1], value)

    return _ARGUMENT.sub(written, message)


def error_text(error: BaseException, spell: Callable[[str], str], report: str) -> str:
    """Return the words of an error as a front end writes them.

    Parameters
    ----------
    error : BaseException
    spell : callable
        Writes the arguments in backticks.
    report : str
        What to do about an error that nobody expected.
    """
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}".strip()
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    words = " ".join(spell(str(error)).split("\n")) or type(error).__name__
    if isinstance(error, (ValueError, TypeError, ImportError, OSError)):
        return words
    return f"something unexpected happened ({type(error).__name__}: {words}). {report}"


def nearest(word: object, known: Iterable[str]) -> str:
    """Propose the nearest known word, as a clause to put into a message.

    Examples
    --------
    >>> nearest("gausian", ["gaussian", "linear"])
    " (did you mean 'gaussian'?)"
    """
    close = nearest_names(str(word), known, limit=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def nearest_names(name: str, known: Iterable[str], *, limit: int = 3) -> list[str]:
    """Return the known names most like `name`, the closest first.

    Upper and lower case count as the same letter: ``age`` typed for ``Age``
    is the commonest slip of all. If no name is like it, those that contain it
    are near, such as ``lipids_C14`` for ``C14``.

    Examples
    --------
    >>> nearest_names("Wieght", ["weight", "height", "age"])
    ['weight', 'height']
    >>> nearest_names("C14", ["id", "lipids_C14", "other_c14"]), nearest_names("", ["age"])
    (['lipids_C14', 'other_c14'], [])
    """
    spellings: dict[str, list[str]] = {}
    for candidate in known:
        spellings.setdefault(str(candidate).lower(), []).append(candidate)
    typed = name.lower()
    close = get_close_matches(typed, spellings, n=limit)
    if not close and typed:
        close = [spelling for spelling in spellings if typed in spelling]
    return [spelling for match in close for spelling in spellings[match]][:limit]


def hint(name: str, known: Iterable[str], *, kind: str) -> str:
    """Return the nearest known names as words, or all of them if none is near.

    Examples
    --------
    >>> hint("agee", ["age", "sex"], kind="columns")
    "nearest: 'age'"
    >>> hint("zzz", ["age", "sex"], kind="columns")
    "columns: 'age', 'sex'"
    """
    known = list(known)
    close = nearest_names(name, known)
    return f"nearest: {listing(close)}" if close else f"{kind}: {listing(known)}"


def quoted(words: Iterable[object]) -> str:
    """Return all words in quotes, separated by commas."""
    return ", ".join(repr(word) for word in words)


def listing(names: Iterable[object]) -> str:
    """Return names for a message, quoted, and cut if there are many.

    Examples
    --------
    >>> listing(["a", "b"]), listing("abcdefg")
    ("'a', 'b'", "'a', 'b', 'c', 'd', 'e', 'f', … (7 in all)")
    """
    shown = list(names)
    if len(shown) <= _SHOWN:
        return quoted(shown)
    return f"{quoted(shown[:_SHOWN])}, … ({len(shown)} in all)"


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that come more than once.

    Examples
    --------
    >>> repeated(["a", "b", "a"])
    ['a']
    """
    return [name for name, times in Counter(names).items() if times > 1]


def printable(text: object) -> str:
    r"""Return a text from a file so that a terminal shows it and does not obey it.

    Control characters, and those that change the direction of writing, are escaped.

    Examples
    --------
    >>> printable("a\x1b[31m\tb")
    'a\\x1b[31m\\tb'
    """
    if str(text).isprintable():
        return str(text)
    return "".join(
        character
        if unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else character.encode("unicode_escape", "surrogatepass").decode("ascii")
        for character in str(text)
    )


def composed(value: Any) -> Any:
    r"""Return a string in Unicode's composed form (NFC), and anything else as it is.

    Two strings that look alike can differ in how an accent is stored; they are compared in this
    form everywhere.

    Examples
    --------
    >>> composed("e\u0301") == "\u00e9", composed(3)
    (True, 3)
    """
    plain = not isinstance(value, str) or value.isascii()
    return value if plain else unicodedata.normalize("NFC", value)


def cell(value: object) -> str:
    """Return a cell of a file for a message: quoted, without controls, and not too long.

    Examples
    --------
    >>> cell("oops"), len(cell("x" * 1000))
    ("'oops'", 43)
    """
    text = str(value)
    cut = text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}…"
    return repr(cut)
