"""How numbers are written: percent signs, units, currencies, thousands and decimal marks.

A column is read as numbers only if one form fits all of its cells. If two forms fit with different
values, as ``1,234`` does, evidence from outside the cells decides, and only if all of it is on one
side.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import polars as pl

from reldep.words import cell

# Units and currencies that may stand with every number of a column.
_CURRENCIES = r"€|\$|£|¥|₹|EUR|USD|GBP|CHF|JPY"
_BASE_UNITS = (
    "g m s l L mol M Pa bar Hz V A W J N K eV cal U IU B byte Da ppm ppb min h d wk mo y yr "
    "hr sec day days week weeks month months year years hour hours minute minutes second seconds "
    "in ft lb lbs oz mmHg bpm dB pt px ha °C °F ° kcal"
)
_PREFIXES = ("f", "p", "n", "µ", "μ", "u", "m", "c", "d", "k", "M", "G", "T")
_WITH_PREFIX = "g m s l L mol M Pa Hz V A W J eV B U IU Da bar Eq Osm"
_UNITS = {"%", "‰", *_BASE_UNITS.split()} | {
    f"{prefix}{unit}" for prefix in _PREFIXES for unit in _WITH_PREFIX.split()
}

MINUS_SIGNS = ("−", "–", "‒", "﹣", "－")
SPACES = ("\u00a0", "\u2009", "\u202f", "\u2007", "\u2008", "\u200a")
_PLAIN_SIGNS = str.maketrans(dict.fromkeys(MINUS_SIGNS, "-") | dict.fromkeys(SPACES, " "))

_CELL = re.compile(
    r"(?P<limit>[<>≤≥]=?)?\s*(?P<open>\()?(?P<sign>[+-])?\s*"
    rf"(?P<prefix>{_CURRENCIES})?\s*(?P<sign2>[+-])?"
    r"(?P<body>(\d[\d.,' ]*\d|\d[.,]?|[.,]\d+)([eE][+-]?\d+)?)"
    rf"\s*(?P<suffix>{_CURRENCIES}|[%‰°A-Za-zµμ][\w%°/·^²³*µμ -]{{0,14}})?(?P<close>\))?"
)
_SIGN = rf"[+{''.join(MINUS_SIGNS)}-]"
NUMBER_LIKE = (
    rf"^([<>≤≥]=?)?\s*\(?{_SIGN}?\s*({_CURRENCIES})?\s*{_SIGN}?"
    rf"[.,]?\d[\d.,' {''.join(SPACES)}]*([eE]{_SIGN}?\d+)?"
    rf"\s*({_CURRENCIES}|[%‰]|[°A-Za-zµμ/²³]{{1,8}})?\)?$"
)
"""A rough regular expression for whole columns; `looks_like_number` decides."""

_PLAIN = re.compile(r"[+-]?(\d+(\.\d+)?|\.\d+)([eE][+-]?\d+)?")

OPEN_POINT = r"^[+-]?[1-9]\d{0,2}\.\d{3}$"
"""Numbers whose point may be a decimal mark or stand between thousands."""


@dataclass(frozen=True)
class Form:
    """One way to write numbers.

    Attributes
    ----------
    decimal : str
        The decimal mark.
    thousands : str
        The mark between groups of digits; empty if there is none.
    prefix, suffix : str
        What stands before and after every number.
    brackets : bool
        Whether brackets stand for a minus sign, as in accounting.
    """

    decimal: str = "."
    thousands: str = ""
    prefix: str = ""
    suffix: str = ""
    brackets: bool = False

    def digits(self) -> str:
        """Return a regular expression for the digits of a number with its marks."""
        point = re.escape(self.decimal)
        plain = rf"(\d+({point}\d*)?|{point}\d+)([eE][+-]?\d+)?"
        if not self.thousands:
            return plain
        mark = re.escape(self.thousands)
        groups = rf"[1-9]\d{{0,2}}({mark}\d{{3}})+"
        if self.thousands == ",":  # a hundred thousand in India: 1,00,000
            groups += r"|[1-9]\d?(,\d{2})+,\d{3}"
        return rf"({groups})({point}\d*)?|{plain}"

    def pattern(self) -> str:
        """Return a regular expression for a whole cell."""
        before, after = re.escape(self.prefix), re.escape(self.suffix)
        sign = rf"[+-]? *({before})? *[+-]?" if before else r"[+-]? *"
        signed = rf"{sign}({self.digits()})"
        whole = rf"\({signed}\)|{signed}" if self.brackets else signed
        return rf"^({whole})( *{after})$" if after else rf"^({whole})$"

    def read(self, cells: pl.Series) -> pl.Series:
        """Return cells as numbers; those that do not fit the form are null."""
        plain = cells.str.replace_many(
            [*MINUS_SIGNS, *SPACES], ["-"] * len(MINUS_SIGNS) + [" "] * len(SPACES)
        ).str.strip_chars()
        bare = plain.to_frame("cell").select(
            pl.when(pl.col("cell").str.contains(self.pattern())).then(pl.col("cell"))
        )["cell"]
        for affix in (self.prefix, self.suffix, self.thousands, " "):
            if affix:
                bare = bare.str.replace_all(affix, "", literal=True)
        if self.brackets:
            bare = bare.str.replace(r"^\((.*)\)$", "-${1}")
        if self.decimal != ".":
            bare = bare.str.replace(self.decimal, ".", literal=True)
        return bare.cast(pl.Float64, strict=False).alias(cells.name)

    def in_words(self) -> list[str]:
        """Return what the form does beyond plain numbers."""
        said = []
        if self.suffix == "%":
            said.append("percent signs removed (50% is read as 50)")
        elif self.suffix:
            said.append(f"the unit {self.suffix!r} removed")
        if self.prefix:
            said.append(f"the currency {self.prefix!r} removed")
        if self.thousands:
            said.append(f"{self.thousands!r} read as the thousands separator")
        if self.decimal != ".":
            said.append(f"{self.decimal!r} read as the decimal mark")
        if self.brackets:
            said.append("numbers in brackets read as negative")
        return said


@dataclass(frozen=True)
class Evidence:
    """What is known about the decimal mark from outside a column.

    Attributes
    ----------
    stated : str
        The decimal mark that the user named; it decides alone.
    has_commas_between_fields : bool
        Whether commas separate the fields: who writes decimal commas does not do that.
    others : frozenset of str
        The decimal marks that other columns prove.
    """

    stated: str = ""
    has_commas_between_fields: bool = False
    others: frozenset[str] = frozenset()

    def decimal_mark(self, mark: str, small: Sequence[float]) -> str | None:
        """Return the decimal mark of numbers such as ``1,234``, or None if it stays open.

        Parameters
        ----------
        mark : str
            The mark in the numbers, ``","`` or ``"."``.
        small : sequence of float
            The numbers of the column without a mark. If all are below 1,000, one with a mark may
            be above. Where there is other evidence, most of them must be hundreds: codes such as
            -999, zeros and whole numbers stand in columns of decimals too.
        """
        if self.stated:
            return self.stated
        found = set(self.others)
        if self.has_commas_between_fields or mark == ".":
            found.add(".")
        are_small = len(small) > 0 and all(abs(number) < 1_000 for number in small)
        are_hundreds = 2 * sum(number >= 100 for number in small) > len(small)
        if are_small and (are_hundreds or not found):
            found.add("," if mark == "." else ".")
        return found.pop() if len(found) == 1 else None

    def allows(self, form: Form) -> bool:
        """Return True if nothing speaks against a form whose thousands are not proven."""
        others = next(iter(self.others)) if len(self.others) == 1 else ""
        usual = "." if self.has_commas_between_fields else others or "."
        return form.decimal == (self.stated or usual)


@dataclass(frozen=True)
class Doubt:
    """Why a column cannot be used without being told how to read it.

    Attributes
    ----------
    reason : str
        What is wrong, to follow the column's name.
    cells : tuple of str
        The cells at fault, or some of them.
    kind : str
        What would help: one of the keys of `reldep.data.strings.WAYS_OUT`.
    rows : tuple of int
        The row of each cell, if the column is known.
    place : callable
        Return the name of a row.
    """

    reason: str
    cells: tuple[str, ...]
    kind: str = "words"
    rows: tuple[int, ...] = ()
    place: Callable[[int], str] = field(default="row {}".format, repr=False, compare=False)

    def __str__(self) -> str:
        shown = [
            f"{cell(text)} ({self.place(row)})"
            for text, row in zip(self.cells, self.rows, strict=True)
        ]
        return f"{self.reason}: {', '.join(shown)}" if shown else self.reason


def tidied(text: str) -> str:
    """Return a cell with the minus signs and spaces of Unicode as the plain ones."""
    return text.translate(_PLAIN_SIGNS).strip()


def looks_like_number(text: str) -> bool:
    """Return True if a cell is a number, perhaps with a unit or a limit.

    Examples
    --------
    >>> [looks_like_number(text) for text in ("32.1%", "€ 3.20", "<0.5", "1.2e3 mg", "A12")]
    [True, True, True, True, False]
    """
    if _PLAIN.fullmatch(text):
        return True
    match = _CELL.fullmatch(tidied(text))
    if match is None or not _fitting([match["body"]]):
        return False
    return match["suffix"] is None or is_unit(match["suffix"])


def is_unit(text: str) -> bool:
    """Return True if a word is a unit of measurement or a currency.

    Examples
    --------
    >>> [is_unit(word) for word in ("mg/dL", "kg", "%", "years", "(cm)", "mmol/L", "low", "id")]
    [True, True, True, True, True, True, False, False]
    """
    bare = text.strip().strip("()[]").strip()
    parts = [part for part in re.split(r"[/·* ]|(?<=[a-zA-Z])[-^]?[\d²³]", bare) if part]
    known = bool(parts) and all(re.sub(r"[-^]?\d$", "", part) in _UNITS for part in parts)
    return known or re.fullmatch(_CURRENCIES, bare) is not None


def _stands_apart(cell: str, unit: str) -> bool:
    """Return False for the letter of a code: ``7 A`` is a current, ``7A`` may be a seat."""
    is_attached = not cell.strip().removesuffix(unit).endswith(" ")
    return not (is_attached and len(unit) == 1 and unit.isupper())


def find_form(
    cells: Iterable[str], evidence: Evidence | None = None
) -> tuple[Form | Doubt | None, str]:
    """Return the one form that some cells follow.

    Parameters
    ----------
    cells : iterable of str
        Different cells of a column, without missing values.
    evidence : Evidence, optional
        What settles marks that the cells leave open.

    Returns
    -------
    Form, Doubt or None
        None if no cell looks like a number.
    str
        The decimal mark that the cells prove; empty if they leave it open.

    Examples
    --------
    >>> find_form(["32.1%", "5%"])
    (Form(decimal='.', thousands='', prefix='', suffix='%', brackets=False), '.')
    >>> find_form(["15,100", "900"])[0].thousands, find_form(["32,1", "5"])[0].decimal
    (',', ',')
    >>> find_form(["5 mg", "3 g"])[0].reason
    'has different units'
    """
    matches = [(text, _CELL.fullmatch(tidied(text))) for text in cells]
    found = [(text, match) for text, match in matches if match is not None]
    if not found:
        return None, ""
    limits = [text for text, match in found if match["limit"]]
    if limits:
        return Doubt("has limits, which are not values", tuple(limits), "limits"), ""
    affixes: dict[tuple[str, str], str] = {}
    for text, match in found:
        affixes.setdefault((match["prefix"] or "", (match["suffix"] or "").strip()), text)
    if len(affixes) > 1:
        return Doubt("has different units", tuple(affixes.values()), "units"), ""
    prefix, suffix = next(iter(affixes))
    if suffix and not (is_unit(suffix) and _stands_apart(found[0][0], suffix)):
        reason = f"has {suffix!r}, which is not a known unit"
        return Doubt(reason, (found[0][0],), "units"), ""
    marks, proof = _find_marks([(text, match["body"]) for text, match in found], evidence)
    if isinstance(marks, Doubt):
        return marks, proof
    brackets = any(match["open"] and match["close"] for _, match in found)
    return Form(marks.decimal, marks.thousands, prefix, suffix, brackets), proof


def _find_marks(
    bodies: Sequence[tuple[str, str]], evidence: Evidence | None
) -> tuple[Form | Doubt, str]:
    """Return the form of the marks, and the decimal mark that the cells prove."""
    fitting, known = _fitting([body for _, body in bodies]), evidence or Evidence()
    if not fitting:
        return _different_marks(bodies), ""
    if len(fitting) == 1:
        (mark, form), *_ = fitting.items()
        if _has_open_thousands(bodies, form) and not known.allows(form):
            return _different_marks(bodies), ""
        return form, mark if any(mark in body for _, body in bodies) else ""
    marked = [(text, body) for text, body in bodies if "," in body or "." in body]
    if not marked:
        return fitting["."], ""
    # Every number with a mark has one, with three digits behind it: 1,234.
    mark = "," if any("," in body for _, body in marked) else "."
    small = [
        -float(body) if text.startswith("-") else float(body)
        for text, body in bodies
        if "," not in body and "." not in body and _PLAIN.fullmatch(body)
    ]
    decimal = known.decimal_mark(mark, small)
    if decimal is None:
        reason = f"has {mark!r}, which may be a decimal mark or a thousands separator"
        return Doubt(reason, (marked[0][0],), "marks"), ""
    return fitting[decimal], ""


def _has_open_thousands(bodies: Sequence[tuple[str, str]], form: Form) -> bool:
    """Return True if each mark between thousands, as in 1,234, might be a decimal mark."""
    grouped = [body for _, body in bodies if form.thousands and form.thousands in body]
    return (
        bool(grouped)
        and form.thousands in ",."
        and all(body.count(form.thousands) == 1 and form.decimal not in body for body in grouped)
    )


def _fitting(bodies: Sequence[str]) -> dict[str, Form]:
    """Return the simplest form with each decimal mark that fits all numbers."""
    found: dict[str, Form] = {}
    for decimal, other in ((".", ","), (",", ".")):
        for thousands in ("", other, " ", "'"):
            form = Form(decimal, thousands)
            pattern = re.compile(form.digits())
            if all(pattern.fullmatch(body) for body in bodies):
                found[decimal] = form
                break
    return found


def _different_marks(bodies: Sequence[tuple[str, str]]) -> Doubt:
    """Return the cells that no common form fits."""
    wrong = [text for text, body in bodies if not _fitting([body])]
    if wrong:
        return Doubt("has marks that do not form a number", (wrong[0],), "marks")
    alone: dict[tuple[bool, bool], str] = {}
    for text, body in bodies:
        if "," in body or "." in body or " " in body:
            alone.setdefault(("," in body, "." in body), text)
    return Doubt("has different decimal marks", tuple(alone.values()), "marks")
