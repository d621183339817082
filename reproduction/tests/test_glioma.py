"""The reader of the paper's glioma file, on small files of the same structure."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import rdata

from reproduction.corpora.glioma import read_glioma

N = 8
PLACES = ["hemi", "midl", "dipg"]
SOME = np.array([1.0, 2.0])
CODES = [1, 2, 3, 1, 2, 3, 1, 1]
VALUES = np.random.default_rng(1).standard_normal((N, 5))


def blocks() -> dict[str, Any]:
    return {
        "GE": pd.DataFrame({f"gene{i}": VALUES[:, i] for i in range(3)}),
        "CGH": VALUES[:, 3:],
        "y": pd.DataFrame({place: np.equal(CODES, i) + 0.0 for i, place in enumerate(PLACES, 1)}),
    }


def glioma(**changed: Any) -> dict[str, Any]:
    return {"ge_cgh_locIGR": {"multiblocks": blocks() | changed, "y": np.array(CODES)}}


def written(path: Path, contents: dict[str, Any]) -> Path:
    rdata.write_rda(path, contents)
    return path


def packed(path: Path, pack: Any) -> bytes:
    return pack(gzip.decompress(written(path, glioma()).read_bytes()))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ge_cgh_locIGR.rda"


def test_blocks_come_with_their_numbers_and_places_with_their_names(path: Path) -> None:
    tumours = read_glioma(written(path, glioma()))
    np.testing.assert_array_equal(tumours.expression, VALUES[:, :3])
    np.testing.assert_array_equal(tumours.cgh, VALUES[:, 3:])
    assert tumours.location.tolist() == [PLACES[code - 1] for code in CODES]
    assert "8 children" in tumours.description
    assert "Biostatistics" in tumours.reference


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_every_compression_that_r_uses_is_read(path: Path, pack: Any) -> None:
    path.write_bytes(packed(path, pack))
    assert read_glioma(path).n_observations == N


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.95])
def test_a_cut_off_file_is_refused(path: Path, pack: Any, share: float) -> None:
    whole = packed(path, pack)
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(
        ValueError, match=r"is not a whole R data file .*; expected the file of the R pack"
    ):
        read_glioma(path)


@pytest.mark.parametrize(
    "contents",
    [
        b"a,b\n1,2\n",
        b"PK\x03\x04 a zip file",
        gzip.compress(b"a,b\n1,2\n", mtime=0),
        b"RDX3\nX\n",
        b"RDA2\nA\nx\n",
    ],
)
def test_a_file_that_is_no_r_data_is_refused(path: Path, contents: bytes) -> None:
    path.write_bytes(contents)
    with pytest.raises(
        ValueError, match=r"not a whole R data file .*ge_cgh_locIGR with multiblocks"
    ):
        read_glioma(path)


def test_a_missing_file_is_named(path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"ge_cgh_locIGR.rda' is not a file; expected"):
        read_glioma(path)


def test_another_object_is_named(path: Path) -> None:
    written(path, {"iris": blocks()["GE"], "cars": np.array([1, 2])})
    with pytest.raises(ValueError, match=r"lacks ge_cgh_locIGR \(found iris, cars\); expected"):
        read_glioma(path)


@pytest.mark.parametrize(
    ("contents", "lacks"),
    [
        (SOME, r"multiblocks \(found no named list\)"),
        ({"y": SOME}, r"multiblocks \(found y\)"),
        ({"multiblocks": SOME}, r"GE \(found no named list\)"),
        ({"multiblocks": {"GE": SOME, "y": SOME}}, r"CGH \(found GE, y\)"),
    ],
)
def test_an_object_without_all_blocks_is_refused(path: Path, contents: Any, lacks: str) -> None:
    written(path, {"ge_cgh_locIGR": contents})
    with pytest.raises(ValueError, match=f"lacks {lacks}; expected"):
        read_glioma(path)


def places(*last: float) -> Any:
    """Return indicators of the places in which the last tumour has these."""
    return np.vstack([np.eye(3)[np.array(CODES[:-1]) - 1], last])


@pytest.mark.parametrize(
    ("block", "changed", "message"),
    [
        ("CGH", VALUES[:-1], "different numbers of rows: GE 8, CGH 7, y 8; exp"),
        ("GE", np.array(["high"] * N), r"\$GE in .* does not contain numbers only"),
        ("CGH", VALUES[:, 0], r"multiblocks\$CGH in .* is not a table of rows and columns"),
        ("y", places(0.0, 0.0, 0.0), r"\$y in .* must have exactly one 1 in each row"),
        ("y", places(1.0, 1.0, 0.0), r"\$y in .* must have exactly one 1 in each row"),
        ("y", places(0.5, 0.5, 0.0), r"\$y in .* must have exactly one 1 in each row"),
        ("y", places(np.nan, 1.0, 0.0), r"\$y in .* must have exactly one 1 in each row"),
    ],
)
def test_blocks_of_another_form_are_refused(path: Path, block: str, changed: Any, message) -> None:
    written(path, glioma(**{block: changed}))
    with pytest.raises(ValueError, match=message):
        read_glioma(path)


def test_without_the_rda_extra_the_error_names_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rdata", None)
    with pytest.raises(
        ImportError, match=r"needs the package rdata; .*pip install 'reldep\[rda\]'"
    ):
        read_glioma(path)
