"""Names in messages: the nearest to a mistyped one, lists of them, those that come twice."""

from __future__ import annotations

from collections import Counter
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_SHOWN = 6


def nearest(name: str, known: Iterable[str], *, limit: int = 3) -> list[str]:
    """Return the known names most like `name`, the closest first.

    Upper and lower case count as the same letter: ``age`` typed for ``Age``
    is the commonest slip of all. If no name is like it, those that contain it
    are near, such as ``lipids_C14`` for ``C14``.

    Examples
    --------
    >>> nearest("Wieght", ["weight", "height", "age"])
    ['weight', 'height']
    """
    spellings: dict[str, list[str]] = {}
    for candidate in known:
        spellings.setdefault(candidate.lower(), []).append(candidate)
    typed = name.lower()
    close = get_close_matches(typed, spellings, n=limit)
    if not close and typed:
        close = [spelling for spelling in spellings if typed in spelling]
    return [spelling for match in close for spelling in spellings[match]][:limit]


def listing(names: Iterable[str]) -> str:
    """Write names for a message, quoted, and cut when there are many.

    Examples
    --------
    >>> listing(["a", "b"])
    "'a', 'b'"
    """
    shown = [repr(name) for name in names]
    if len(shown) <= _SHOWN:
        return ", ".join(shown)
    return f"{', '.join(shown[:_SHOWN])}, … ({len(shown)} in all)"


def hint(name: str, known: Iterable[str], *, kind: str) -> str:
    """Write the nearest known names, or all of them when none is near.

    Examples
    --------
    >>> hint("agee", ["age", "sex"], kind="columns")
    "nearest: 'age'"
    >>> hint("zzz", ["age", "sex"], kind="columns")
    "columns: 'age', 'sex'"
    """
    known = list(known)
    close = nearest(name, known)
    return f"nearest: {listing(close)}" if close else f"{kind}: {listing(known)}"


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that come more than once.

    Examples
    --------
    >>> repeated(["a", "b", "a"])
    ['a']
    """
    return [name for name, times in Counter(names).items() if times > 1]
