"""Tables as data frames, in the library the data came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reldep.data.variables import FloatArray


def make_frame(columns: Mapping[str, Sequence[Any] | FloatArray], library: str | None) -> Any:
    """Build a data frame: pandas for pandas input, arrow for arrow; polars otherwise."""
    import narwhals as nw

    backend: Any = library or "polars"
    return nw.from_dict(dict(columns), backend=backend).to_native()
