"""Reader of the paper's glioma data from the file of the R package gliomaData."""

from __future__ import annotations

import io
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
    "list(GE, CGH, y), one row per tumour in each"
)

# What rdata, and what it uses to unpack and convert, raise on bytes that are not an R data file,
# or only a part of one.
_UNREADABLE = (
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    NotImplementedError,
    OSError,
    TypeError,
    ValueError,
    lzma.LZMAError,
    zlib.error,
)


def read_glioma(path: str | os.PathLike[str]) -> Dataset:
    """Read the paper's glioma data: expression, copy number and location of 53 tumours.

    The data are not part of this package. They come with the R package gliomaData, in the
    file ``ge_cgh_locIGR.rda``. Reading it needs no R, but the extra ``rda``.

    Parameters
    ----------
    path : path
        The ``.rda`` (or ``.RData``) file.

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
        If the file is not an R data file, is cut off, or contains something else.

    References
    ----------
    Tenenhaus et al. (2014), Variable selection for generalized canonical correlation analysis,
    Biostatistics 15, 569-583.

    Examples
    --------
    >>> from reproduction.corpora.glioma import read_glioma
    >>> tumours = read_glioma("ge_cgh_locIGR.rda")  # doctest: +SKIP
    >>> tumours.location.unique().to_list()  # doctest: +SKIP
    ['dipg', 'hemi', 'midl']
    """
    glioma = _glioma_object(Path(path))
    multiblocks = _entry(glioma, "multiblocks", path)
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
    _check_codes(glioma, location, path)
    blocks = {"expression": expression, "cgh": cgh, "location": location}
    description = (
        f"High-grade gliomas of {expression.height} children: expression of "
        f"{expression.width} genes, comparative genomic hybridisation at {cgh.width} segments, "
        "and the tumour's place in the brain. From the Institut Gustave Roussy, Villejuif, by "
        "way of the R package gliomaData (GPL-2 or later; its authors ask users to contact the "
        f"institute for the rights to the data), read from {_quoted(path)}. "
        "Nothing was transformed, except that the location indicators became names."
    )
    reference = (
        "Tenenhaus, A., Philippe, C., Guillemot, V., Le Cao, K.-A., Grill, J. and Frouin, V. "
        "(2014). Variable selection for generalized canonical correlation analysis. "
        "Biostatistics 15, 569-583."
    )
    return Dataset("glioma", blocks, description, reference)


def _glioma_object(path: Path) -> Any:
    try:
        import rdata
    except ImportError as error:
        raise ImportError(
            "reading an R data file needs the package rdata; install it with: "
            "pip install 'reldep[rda]'"
        ) from error
    if not path.is_file():
        raise FileNotFoundError(f"path {str(path)!r} is not a file; {_EXPECTED}")
    packed = io.BytesIO(path.read_bytes())
    try:
        with warnings.catch_warnings():
            # rdata warns where it guesses; what comes out is checked afterwards.
            warnings.simplefilter("ignore")
            objects: Any = rdata.read_rda(packed)
    except _UNREADABLE as error:
        raise ValueError(
            f"{str(path)!r} is not a whole R data file ({type(error).__name__}: {error}); "
            f"{_EXPECTED}"
        ) from error
    return _entry(objects, _OBJECT, path)


def _entry(holder: Any, name: str, path: str | os.PathLike[str]) -> Any:
    if not isinstance(holder, Mapping) or name not in holder:
        held = ", ".join(map(str, holder)) if isinstance(holder, Mapping) else "no named list"
        raise ValueError(f"{_quoted(path)} lacks {name} (found {held}); {_EXPECTED}")
    return holder[name]


def _frame(block: Any, name: str, path: str | os.PathLike[str]) -> pl.DataFrame:
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
    elif hasattr(block, "dims") and block.dims[1] in block.coords:
        names = [str(column) for column in block.coords[block.dims[1]].values]
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
    glioma: Mapping[str, Any], location: pl.Series, path: str | os.PathLike[str]
) -> None:
    """Compare with the location codes that the object contains a second time."""
    # The package's help page calls the entry ylabel; R's `$y` finds it under both names.
    codes = next((glioma[name] for name in ("y", "ylabel") if name in glioma), None)
    if codes is None:
        return
    values = np.asarray(codes).ravel().tolist()
    places = location.to_list()
    # However the codes are written, each must stand for one place and each place for one code.
    pairs = set(zip(values, places, strict=False))
    if len(values) != len(places) or not len(pairs) == len(set(values)) == len(set(places)):
        raise ValueError(
            f"the location codes y and the indicators multiblocks$y in {_quoted(path)} do not "
            f"agree; {_EXPECTED}"
        )


def _quoted(path: str | os.PathLike[str]) -> str:
    return repr(os.fspath(path))
