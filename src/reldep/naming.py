"""Names that a package offers and imports when they are first used."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def imported_when_named(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of a package.

    Parameters
    ----------
    package : str
        Its name.
    homes : mapping of str to str
        The module in which each name lives; a name that is a module is at home in itself.
    """

    def find(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(home)
        value = module if home == f"{package}.{name}" else getattr(module, name)
        # From now on the package has the name itself.
        setattr(sys.modules[package], name, value)
        return value

    return find
