"""Packages that only some kernels need: imported when used, with one clear error."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def import_extra(module: str, *, extra: str, purpose: str) -> Any:
    """Import a module of an optional package, or say how to install it.

    Parameters
    ----------
    module : str
        The module, as in ``import module``.
    extra : str
        The extra of this package that installs it.
    purpose : str
        What needs it, as the subject of the sentence.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0].replace("sklearn", "scikit-learn")
        raise ImportError(
            f"{purpose} needs {package} ({error}); install it with: pip install 'reldep[{extra}]'"
        ) from error
