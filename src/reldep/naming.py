"""Names that a package offers and imports when they are first used."""

from __future__ import annotations

import importlib
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def names_in_stub(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package, as its stub lists them.

    The stub ``__init__.pyi`` has one line per name, ``from reldep.engine import Dense as Dense``,
    which type checkers read too. A name is imported when it is first used, so that importing the
    package takes no time.

    Parameters
    ----------
    package, file : str
        The `__name__` and the `__file__` of the package.
    """
    home_of = {}
    # The loader reads files next to the package, in a folder or in a zip file.
    loader: Any = sys.modules[package].__loader__
    for line in loader.get_data(f"{file}i").decode().splitlines():
        if line.startswith("from "):
            _, home, _, name, *_ = line.split()
            home_of[name] = home
    offered = sorted(name for name in home_of if not name.startswith("_"))

    def find(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = home_of[name]
        is_module = home == package
        module = importlib.import_module(f"{package}.{name}" if is_module else home)
        value = module if is_module else getattr(module, name)
        # From now on the package has the name itself.
        setattr(sys.modules[package], name, value)
        return value

    return find, lambda: offered, offered
