"""Reader of the paper's glioma data from the file of the R package gliomaData."""

from __future__ import annotations

import lzma
import os
import warnings
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reldep.datasets._dataset import Dataset

if TYPE_CHECKING:
    import polars as pl

_OBJECT = "ge_cgh_locIGR"

_EXPECTED = (
    f"expected the file of the R package gliomaData: an object {_OBJECT} with multiblocks = "
    "list(GE, CGH, y), one row a tumour in each"
)

# What rdata, and what it uses to unpack and convert, raise on a file that is no R data file
# or only a part of one.
_UNREADABLE = (
    AttributeError,
    EOFError,
    IndexError,
    KeyError,
    NotImplementedError,
    OSError,
    TypeError,
    ValueError,
    lzma.LZMAError,
    zlib.error,
)


def read_glioma(path: str | os.PathLike[str], *, as_frame: bool = True) -> Dataset:
    """Read the paper's glioma data: expression, copy number and location of 53 tumours.

    The data are not part of this package. They come with the R package gliomaData, in the
    file ``ge_cgh_locIGR.rda``. Reading it needs no R, but the extra ``rda``.

    Parameters
    ----------
    path : path
        The ``.rda`` (or ``.RData``) file.
    as_frame : bool, default True
        Give polars frames and a series with names; False gives NumPy arrays.

    Returns
    -------
    Dataset
        Blocks ``expression`` (53 × 15702), ``cgh`` (53 × 1229; comparative genomic
        hybridisation, that is copy number) and ``location`` (53 names of the place in the
        brain).

    Raises
    ------
    ImportError
        If the package rdata is missing: ``pip install 'reldep[rda]'``.
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is no R data file, is cut off, or holds something else.

    References
    ----------
    Tenenhaus et al. (2014), Variable selection for generalized canonical correlation analysis,
    Biostatistics 15, 569-583.

    Examples
    --------
    >>> from reldep.datasets import read_glioma
    >>> tumours = read_glioma("ge_cgh_locIGR.rda")  # doctest: +SKIP
    >>> tumours.location.unique().to_list()  # doctest: +SKIP
    ['dipg', 'hemi', 'midl']
    """
    glioma = _glioma_object(Path(path))
    multiblocks = _entry(glioma, "multiblocks", path)
    if not isinstance(multiblocks, Mapping):
        raise ValueError(f"multiblocks in {_quoted(path)} is not a named list; {_EXPECTED}")
    expression, cgh, indicators = (
        _frame(_entry(multiblocks, block, path), f"multiblocks${block}", path)
        for block in ("GE", "CGH", "y")
    )
    if not expression.height == cgh.height == indicators.height:
        raise ValueError(
            f"the blocks in {_quoted(path)} have different numbers of rows: GE "
            f"{expression.height}, CGH {cgh.height}, y {indicators.height}; {_EXPECTED}"
        )
    location = _labels(indicators, path)
    _check_codes(glioma, location, indicators.columns, path)
    blocks: dict[str, Any] = {"expression": expression, "cgh": cgh, "location": location}
    if not as_frame:
        blocks = {
            "expression": expression.to_numpy(),
            "cgh": cgh.to_numpy(),
            "location": np.array(location.to_list(), dtype=np.str_),
        }
    description = (
        f"High-grade gliomas of {expression.height} children: expression of "
        f"{expression.width} genes, comparative genomic hybridisation at {cgh.width} segments, "
        "and the tumour's place in the brain. From the Institut Gustave Roussy, Villejuif, by "
        f"way of the R package gliomaData (licence not stated), read from {_quoted(path)}. "
        "Nothing was transformed, except that the location indicators became names."
    )
    reference = (
        "Tenenhaus, A., Philippe, C., Guillemot, V., Le Cao, K.-A., Grill, J. and Frouin, V. "
        "(2014). Variable selection for generalized canonical correlation analysis. "
        "Biostatistics 15, 569-583."
    )
    return Dataset("glioma", blocks, description, reference)


def _glioma_object(path: Path) -> Mapping[str, Any]:
    try:
        import rdata
    except ImportError as error:
        raise ImportError(
            "reading an R data file needs the package rdata; install it with: "
            "pip install 'reldep[rda]'"
        ) from error
    if not path.is_file():
        raise FileNotFoundError(f"path {str(path)!r} is not a file; {_EXPECTED}")
    try:
        with warnings.catch_warnings():
            # rdata guesses when it sees an unknown file and warns of R classes that it gives
            # as plain lists; what comes out is checked below either way.
            warnings.simplefilter("ignore")
            objects = rdata.read_rda(path)
    except _UNREADABLE as error:
        raise ValueError(
            f"{str(path)!r} is not a whole R data file ({type(error).__name__}: {error}); "
            f"{_EXPECTED}"
        ) from error
    if not isinstance(objects, Mapping) or _OBJECT not in objects:
        held = ", ".join(map(str, objects)) if isinstance(objects, Mapping) else "no named object"
        raise ValueError(f"{str(path)!r} holds {held}; {_EXPECTED}")
    glioma = objects[_OBJECT]
    if not isinstance(glioma, Mapping):
        raise ValueError(f"{_OBJECT} in {str(path)!r} is not a named list; {_EXPECTED}")
    return glioma


def _entry(holder: Mapping[str, Any], name: str, path: str | os.PathLike[str]) -> Any:  # noqa: ANN401
    if name not in holder:
        raise ValueError(
            f"{_quoted(path)} lacks {name}; found {', '.join(map(str, holder))}; {_EXPECTED}"
        )
    return holder[name]


def _frame(block: Any, name: str, path: str | os.PathLike[str]) -> pl.DataFrame:  # noqa: ANN401
    """Polars frame of an R data frame or matrix.

    rdata gives a data frame as a pandas frame, a matrix with row or column names as an
    xarray array and a bare matrix as a NumPy array.
    """
    import polars as pl

    try:
        values = np.asarray(block, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} in {_quoted(path)} does not hold numbers only") from error
    if values.ndim != 2:
        raise ValueError(f"{name} in {_quoted(path)} is not a table of rows and columns")
    if hasattr(block, "columns"):
        names = [str(column) for column in block.columns]
    elif "dim_1" in getattr(block, "coords", {}):
        names = [str(column) for column in block.coords["dim_1"].values]
    else:
        names = [f"V{i}" for i in range(1, values.shape[1] + 1)]
    return pl.DataFrame(values, schema=_distinct(names))


def _distinct(names: list[str]) -> list[str]:
    """Append a number to a name met before: an R matrix may repeat its column names."""
    taken = set(names)
    distinct: list[str] = []
    seen: set[str] = set()
    for name in names:
        number, candidate = 1, name
        while candidate in seen or (candidate != name and candidate in taken):
            candidate = f"{name}.{number}"
            number += 1
        seen.add(candidate)
        distinct.append(candidate)
    return distinct


def _labels(indicators: pl.DataFrame, path: str | os.PathLike[str]) -> pl.Series:
    """Name of the one column that is 1, row by row."""
    import polars as pl

    values = indicators.to_numpy()
    if not (np.isin(values, (0.0, 1.0)).all() and (values.sum(axis=1) == 1.0).all()):
        raise ValueError(
            f"multiblocks$y in {_quoted(path)} must have exactly one 1 in each row and 0 "
            f"elsewhere, to say where the tumour is; {_EXPECTED}"
        )
    return pl.Series("location", [indicators.columns[i] for i in values.argmax(axis=1)])


def _check_codes(
    glioma: Mapping[str, Any], location: pl.Series, places: list[str], path: str | os.PathLike[str]
) -> None:
    """Compare with the location codes 1, 2, 3 that the object holds a second time."""
    # The entry is called ylabel in the package's help page; R's `$y` finds it just as well.
    codes = next((glioma[name] for name in ("y", "ylabel") if name in glioma), None)
    if codes is None:
        return
    named = [
        places[int(code) - 1] if str(code).isdigit() and 0 < int(code) <= len(places) else code
        for code in np.asarray(codes).ravel()
    ]
    if named != location.to_list():
        raise ValueError(
            f"the location codes y and the indicators multiblocks$y in {_quoted(path)} do not "
            f"agree; {_EXPECTED}"
        )


def _quoted(path: str | os.PathLike[str]) -> str:
    return repr(os.fspath(path))
