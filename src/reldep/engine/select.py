"""From what a user writes for ``engine=`` to an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reldep._validation import check_choice
from reldep.engine.dense import Dense

if TYPE_CHECKING:
    from reldep.engine.terms import Engine

ENGINES = {"dense": Dense}


def select_engine(spec: Any) -> Engine:
    """Turn a name or an engine object into an engine."""
    if isinstance(spec, str):
        check_choice("engine", spec, ["auto", *ENGINES])
        return Dense() if spec == "auto" else ENGINES[spec]()
    if hasattr(spec, "terms") and not isinstance(spec, type):
        engine: Engine = spec
        return engine
    raise TypeError(
        f"engine is of type {type(spec).__name__}; pass a name such as 'auto' or 'dense', or an "
        "engine object."
    )
