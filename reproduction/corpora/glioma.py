"""Reader of the paper's glioma data from the file of the R package gliomaData."""

from __future__ import annotations

import io
import lzma
import os
import warnings
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from reldep.datasets._dataset import Dataset

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
        Arrays ``expression`` (53 × 15702), ``cgh`` (53 × 1229; comparative genomic
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
    >>> sorted(set(tumours.location))  # doctest: +SKIP
    ['dipg', 'hemi', 'midl']
    """
    glioma = _glioma_object(Path(path))
    multiblocks = _entry(glioma, "multiblocks", path)
    blocks = {name: _entry(multiblocks, name, path) for name in ("GE", "CGH", "y")}
    expression, cgh, indicators = (_numbers(block, name, path) for name, block in blocks.items())
    if not len(expression) == len(cgh) == len(indicators):
        raise ValueError(
            f"the blocks in {_quoted(path)} have different numbers of rows: GE "
            f"{len(expression)}, CGH {len(cgh)}, y {len(indicators)}; {_EXPECTED}"
        )
    if not (np.isin(indicators, (0.0, 1.0)).all() and (indicators.sum(axis=1) == 1.0).all()):
        raise ValueError(
            f"multiblocks$y in {_quoted(path)} must have exactly one 1 in each row and 0 "
            f"elsewhere, to say where the tumour is; {_EXPECTED}"
        )
    places = getattr(blocks["y"], "columns", None)
    if places is None:  # a matrix, with or without names of its columns
        places = [f"place {i + 1}" for i in range(indicators.shape[1])]
    location = np.array(places, dtype=str)[indicators.argmax(axis=1)]
    description = (
        f"High-grade gliomas of {len(expression)} children: expression of "
        f"{expression.shape[1]} genes, comparative genomic hybridisation at {cgh.shape[1]} "
        "segments, "
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
    data = {"expression": expression, "cgh": cgh, "location": location}
    return Dataset("glioma", data, description, reference)


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


def _numbers(block: Any, name: str, path: str | os.PathLike[str]) -> np.ndarray:
    """Return the numbers of a data frame or matrix of R."""
    try:
        values = np.asarray(block, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"multiblocks${name} in {_quoted(path)} does not contain numbers only"
        ) from error
    if values.ndim != 2:
        raise ValueError(
            f"multiblocks${name} in {_quoted(path)} is not a table of rows and columns"
        )
    return values


def _quoted(path: str | os.PathLike[str]) -> str:
    return repr(os.fspath(path))
