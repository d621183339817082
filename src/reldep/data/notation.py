"""How numbers are written: percent signs, units, currencies, thousands and decimal marks.

A column is read as numbers only where all of its cells follow one form. Whatever the form does
beyond plain numbers is said, for ``1,234`` is two different numbers in two countries.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

_CODES = (
    "n/a #n/a #na n.a. na nan null none nil missing <na> . .. ? ?? - -- --- – — * "
    "#null! #value! #div/0! #ref! #num! #name?"
)
MISSING_CODES = frozenset(_CODES.split())
"""Words that stand for a missing value where the rest of a column is numbers."""

MINUS_SIGNS = ("−", "–", "‒", "﹣", "－")
SPACES = ("\u00a0", "\u2009", "\u202f", "\u2007", "\u2008", "\u200a")

_CURRENCIES = r"€|\$|£|¥|₹|EUR|USD|GBP|CHF|JPY"
_BASE_UNITS = (
    "g m s l L mol M Pa bar Hz V A W J N K eV cal U IU B byte Da ppm ppb min h d wk mo y yr "
    "hr sec day days week weeks month months year years hour hours minute minutes second seconds "
    "in ft lb lbs oz mmHg bpm dB pt px ha °C °F ° kcal"
)
_UNITS = {"%", "‰", *_BASE_UNITS.split()} | {
    f"{size}{unit}"
    for size in ("f", "p", "n", "µ", "μ", "u", "m", "c", "d", "k", "M", "G", "T")
    for unit in (
        *("g", "m", "s", "l", "L", "mol", "M", "Pa", "Hz", "V", "A", "W", "J", "eV", "B"),
        *("U", "IU", "Da", "bar", "Eq", "Osm"),
    )
}
_CELL = re.compile(
    r"(?P<limit>[<>≤≥]=?)?\s*(?P<open>\()?(?P<sign>[+-])?\s*"
    rf"(?P<prefix>{_CURRENCIES})?\s*(?P<sign2>[+-])?"
    r"(?P<body>\d[\d.,' ]*\d|\d[.,]?|[.,]\d+)(?P<power>[eE][+-]?\d+)?"
    rf"\s*(?P<suffix>{_CURRENCIES}|[%‰°A-Za-zµμ][\w%°/·^²³*µμ -]{{0,14}})?(?P<close>\))?"
)
_GROUPED = re.compile(r"\d{1,3}(?P<mark>[.,' ])\d{3}((?P=mark)\d{3})*|\d{1,2}(,\d{2})+,\d{3}")


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

    def pattern(self) -> str:
        """Write the form as a regular expression for a whole cell."""
        digits = r"\d+"
        if self.thousands:
            mark = re.escape(self.thousands)
            lakh = r"|\d{1,2}(,\d{2})+,\d{3}" if self.thousands == "," else ""
            digits = rf"(\d{{1,3}}({mark}\d{{3}})+{lakh}|\d+)"
        point = re.escape(self.decimal)
        number = rf"({digits}({point}\d*)?|{point}\d+)([eE][+-]?\d+)?"
        before, after = re.escape(self.prefix), re.escape(self.suffix)
        signed = rf"[+-]? *({before})? *[+-]?{number}" if before else rf"[+-]? *{number}"
        whole = rf"\({signed}\)|{signed}" if self.brackets else signed
        return rf"^({whole})( *{after})$" if after else rf"^({whole})$"

    def read(self, values: pl.Expr) -> pl.Expr:
        """Turn cells that follow the form into numbers, all others into missing values."""
        import polars as pl

        plain = tidied(values)
        fits = plain.str.contains(self.pattern())
        bare = plain
        for affix in (self.prefix, self.suffix, self.thousands):
            if affix:
                bare = bare.str.replace_all(affix, "", literal=True)
        bare = bare.str.replace_all(" ", "", literal=True)
        if self.brackets:
            bare = bare.str.replace(r"^\((.*)\)$", "-${1}")
        if self.decimal != ".":
            bare = bare.str.replace(self.decimal, ".", literal=True)
        return pl.when(fits).then(bare).cast(pl.Float64, strict=False)

    def in_words(self) -> list[str]:
        """Say what the form does beyond plain numbers."""
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


WAYS_OUT = {
    "words": "Write missing values as NA, or name their code with `na`, or the column in "
    "`numbers`; if they are labels, name it in `categories`.",
    "marks": "Name the marks with `decimal` or `thousands`.",
    "units": "Convert them to one unit; if they are labels, name the column in `categories`.",
    "limits": "Replace limits by values, or make them missing: name them with `na`, or the column "
    "in `numbers`.",
    "dates": "Write dates as 2024-01-31; if they are labels, name the column in `categories`.",
    "dated": "Write missing values as NA, or name the column in `date_columns` to make them "
    "missing; if they are labels, name it in `categories`.",
    "stated": "Take the column out of `numbers` or `date_columns`.",
}
"""What to do about a column that disagrees with itself, by the kind of disagreement."""


@dataclass(frozen=True)
class Disagreement:
    """Why cells that look like numbers do not follow one form.

    Attributes
    ----------
    reason : str
        What is wrong, to follow the column's name.
    cells : tuple of str
        A few of the cells at fault.
    kind : str
        What would help: one of the keys of `WAYS_OUT`.
    """

    reason: str
    cells: tuple[str, ...]
    kind: str = "words"


def tidied(values: pl.Expr) -> pl.Expr:
    """Write the many minus signs and spaces of Unicode as the plain ones."""
    signs = [*MINUS_SIGNS, *SPACES]
    plain = ["-"] * len(MINUS_SIGNS) + [" "] * len(SPACES)
    return values.str.replace_many(signs, plain).str.strip_chars()


def tidied_cell(text: str) -> str:
    """Do for one cell what `tidied` does for columns."""
    for sign in MINUS_SIGNS:
        text = text.replace(sign, "-")
    for space in SPACES:
        text = text.replace(space, " ")
    return text.strip()


def looks_like_number(text: str) -> bool:
    """Tell whether a cell is a number with something around it.

    Examples
    --------
    >>> [looks_like_number(text) for text in ("32.1%", "€ 3.20", "<0.5", "1.2e3 mg", "A12")]
    [True, True, True, True, False]
    """
    match = _CELL.fullmatch(tidied_cell(text))
    if match is None or _role(match["body"], match["power"], ".")[0] == "wrong":
        return False
    return match["suffix"] is None or is_unit(match["suffix"])


_SIGN = rf"[+{''.join(MINUS_SIGNS)}-]"
NUMBER_LIKE = (
    rf"^([<>≤≥]=?)?\s*\(?{_SIGN}?\s*({_CURRENCIES})?\s*{_SIGN}?"
    rf"[.,]?\d[\d.,' {''.join(SPACES)}]*([eE]{_SIGN}?\d+)?"
    rf"\s*({_CURRENCIES}|[%‰]|[°A-Za-zµμ/²³]{{1,8}})?\)?$"
)
"""A rough regular expression for whole columns; `looks_like_number` decides."""


def is_unit(text: str) -> bool:
    """Tell whether a word is a unit of measurement.

    Examples
    --------
    >>> [is_unit(word) for word in ("mg/dL", "kg", "%", "years", "(cm)", "mmol/L", "low", "id")]
    [True, True, True, True, True, True, False, False]
    """
    bare = text.strip().strip("()[]").strip()
    parts = [part for part in re.split(r"[/·* ]|(?<=[a-zA-Z])[-^]?[\d²³]", bare) if part]
    known = bool(parts) and all(re.sub(r"[-^]?\d$", "", part) in _UNITS for part in parts)
    return known or re.fullmatch(_CURRENCIES, bare) is not None


def _stands_apart(text: str, suffix: str) -> bool:
    """Tell a unit from the letter of a code: ``7 A`` is a current, ``7A`` may be a seat."""
    attached = not text.strip().removesuffix(suffix).endswith(" ")
    return not (attached and len(suffix) == 1 and suffix.isupper())


def find_form(cells: Iterable[str], default: Form | None = None) -> Form | Disagreement | None:
    """Find the one form that some cells follow.

    Parameters
    ----------
    cells : iterable of str
        Different cells of a column, without missing values.
    default : Form, optional
        The marks that settle what the cells leave open, such as ``1,234``.

    Returns
    -------
    Form, Disagreement or None
        None if no cell looks like a number.

    Examples
    --------
    >>> find_form(["32.1%", "5%"])
    Form(decimal='.', thousands='', prefix='', suffix='%', brackets=False)
    >>> find_form(["15,100", "900"]).thousands, find_form(["32,1", "5"]).decimal
    (',', ',')
    >>> find_form(["5 mg", "3 g"]).reason
    'has different units'
    """
    matches = [(text, _CELL.fullmatch(tidied_cell(text))) for text in cells]
    found = [(text, match) for text, match in matches if match is not None]
    if not found:
        return None
    limits = [text for text, match in found if match["limit"]]
    if limits:
        return Disagreement("has limits, which are not values", tuple(limits[:3]), "limits")
    affixes: dict[tuple[str, str], str] = {}
    for text, match in found:
        affixes.setdefault((match["prefix"] or "", (match["suffix"] or "").strip()), text)
    if len(affixes) > 1:
        return Disagreement("has different units", tuple(affixes.values())[:3], "units")
    (prefix, suffix) = next(iter(affixes))
    if suffix and not (is_unit(suffix) and _stands_apart(found[0][0], suffix)):
        return Disagreement(f"has {suffix!r}, which is not a known unit", (found[0][0],), "units")
    brackets = any(match["open"] and match["close"] for _, match in found)
    marks = _find_marks([(text, match["body"], match["power"]) for text, match in found], default)
    if isinstance(marks, Disagreement):
        return marks
    return replace(marks, prefix=prefix, suffix=suffix, brackets=brackets)


def _find_marks(
    bodies: Sequence[tuple[str, str, str | None]], default: Form | None
) -> Form | Disagreement:
    """Find the decimal mark and the one between thousands."""
    decimal: dict[str, str] = {}
    thousands: dict[str, str] = {}
    unclear: dict[str, str] = {}
    short = False
    for text, body, power in bodies:
        kind, mark = _role(body, power, "." if default is None else default.decimal)
        of_kind = {"decimal": decimal, "thousands": thousands, "unclear": unclear}
        of_kind.get(kind, {}).setdefault(mark, text)
        if kind == "both":
            thousands.setdefault(mark, text)
            decimal.setdefault("." if body.rfind(".") > body.rfind(",") else ",", text)
        if kind == "wrong":
            return Disagreement("has marks that do not form a number", (text,), "marks")
        short = short or (kind == "plain" and len(body) <= 3)
    if len(decimal) > 1 or decimal.keys() & thousands.keys() or len(thousands) > 1:
        shown = tuple(dict.fromkeys([*decimal.values(), *thousands.values()]))[:3]
        return Disagreement("has different decimal marks", shown, "marks")
    for mark, text in unclear.items():
        if mark in decimal or (default is not None and mark == default.decimal):
            decimal[mark] = text
        elif mark in thousands or decimal or short or (default and mark == default.thousands):
            thousands[mark] = text
        else:
            reason = f"has {mark!r}, which may be a decimal mark or a thousands separator"
            return Disagreement(reason, (text,), "marks")
    if len(thousands) > 1 or decimal.keys() & thousands.keys():
        shown = tuple(dict.fromkeys([*decimal.values(), *thousands.values()]))[:3]
        return Disagreement("has different decimal marks", shown, "marks")
    fallback = "." if default is None else default.decimal
    if fallback in thousands:
        fallback = "," if fallback == "." else "."
    return Form(next(iter(decimal), fallback), next(iter(thousands), ""))


def _role(body: str, power: str | None, usual: str) -> tuple[str, str]:
    """Tell what the marks of one number are: decimal, between thousands, either or both.

    The usual decimal mark is not taken for one between thousands if it comes once.
    """
    for mark in " '":
        if mark in body:
            whole, _, rest = body.replace(".", ",").partition(",")
            grouped = _GROUPED.fullmatch(whole) is not None and "," not in rest
            kind = "both" if rest or "," in body or "." in body else "thousands"
            return (kind if grouped else "wrong"), mark
    commas, points = body.count(","), body.count(".")
    if not commas and not points:
        return "plain", ""
    if commas and points:
        last = max(",.", key=body.rfind)
        first = "," if last == "." else "."
        whole, _, rest = body.rpartition(last)
        good = _GROUPED.fullmatch(whole) is not None and first not in rest and last not in whole
        return ("both" if good else "wrong"), first
    mark = "," if commas else "."
    if commas + points > 1:
        return ("thousands" if _GROUPED.fullmatch(body) else "wrong"), mark
    if power or _GROUPED.fullmatch(body) is None or body.startswith("0"):
        return "decimal", mark
    return ("decimal" if mark == usual else "unclear"), mark
