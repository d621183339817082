"""Units of measurement and currencies that may stand with every number of a column."""

from __future__ import annotations

import re

CURRENCIES = r"€|\$|£|¥|₹|EUR|USD|GBP|CHF|JPY"
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
    return known or re.fullmatch(CURRENCIES, bare) is not None


def stands_apart(cell: str, unit: str) -> bool:
    """Return False for the letter of a code: ``7 A`` is a current, ``7A`` may be a seat."""
    is_attached = not cell.strip().removesuffix(unit).endswith(" ")
    return not (is_attached and len(unit) == 1 and unit.isupper())
