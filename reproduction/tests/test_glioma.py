"""The reader of the paper's glioma file, on small files of the same structure."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rda_writer import DataFrame, Factor, Matrix, write_rda

from reproduction.corpora.glioma import read_glioma

if TYPE_CHECKING:
    from pathlib import Path

N = 8
PLACES = ["hemi", "midl", "dipg"]
CODES = [1, 2, 3, 1, 2, 3, 1, 1]
FACTOR = Factor(CODES, ["1", "2", "3"])
VALUES = np.random.default_rng(1).standard_normal((N, 5))


def blocks() -> dict[str, Any]:
    return {
        "GE": DataFrame({f"gene{i}": VALUES[:, i].tolist() for i in range(3)}),
        "CGH": Matrix(VALUES[:, 3:].tolist(), ["segment1", "segment2"]),
        "y": DataFrame(
            {place: [float(code == i) for code in CODES] for i, place in enumerate(PLACES, 1)}
        ),
    }


def glioma(codes: Any = FACTOR, **changed: Any) -> dict[str, Any]:
    return {"ge_cgh_locIGR": {"multiblocks": blocks() | changed, "y": codes}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ge_cgh_locIGR.rda"


def test_blocks_come_with_their_names_and_numbers(path: Path) -> None:
    tumours = read_glioma(write_rda(path, glioma()))
    assert list(tumours) == ["expression", "cgh", "location"]
    assert tumours.expression.columns == ["gene0", "gene1", "gene2"]
    assert tumours.cgh.columns == ["segment1", "segment2"]
    np.testing.assert_array_equal(tumours.expression.to_numpy(), VALUES[:, :3])
    np.testing.assert_array_equal(tumours.cgh.to_numpy(), VALUES[:, 3:])
    assert tumours.location.name == "location"
    assert tumours.location.to_list() == [PLACES[code - 1] for code in CODES]
    assert "8 children" in tumours.description
    assert "Biostatistics" in tumours.reference


@pytest.mark.parametrize("codes", [CODES, [float(code) for code in CODES], Factor(CODES, PLACES)])
def test_location_codes_may_be_numbers_or_a_factor(path: Path, codes: Any) -> None:
    assert read_glioma(write_rda(path, glioma(codes))).n_observations == N


def test_the_codes_may_be_called_ylabel_or_be_absent(path: Path) -> None:
    contents = glioma()
    contents["ge_cgh_locIGR"]["ylabel"] = contents["ge_cgh_locIGR"].pop("y")
    assert read_glioma(write_rda(path, contents)).n_observations == N
    del contents["ge_cgh_locIGR"]["ylabel"]
    assert read_glioma(write_rda(path, contents)).n_observations == N


def test_matrices_without_names_get_names(path: Path) -> None:
    tumours = read_glioma(write_rda(path, glioma(GE=Matrix(VALUES.tolist()))))
    assert tumours.expression.columns == ["V1", "V2", "V3", "V4", "V5"]


def test_repeated_column_names_are_told_apart(path: Path) -> None:
    matrix = Matrix(VALUES[:, :4].tolist(), ["a", "a", "a.1", "a"])
    tumours = read_glioma(write_rda(path, glioma(CGH=matrix)))
    assert tumours.cgh.columns == ["a", "a.2", "a.1", "a.3"]
    np.testing.assert_array_equal(tumours.cgh.to_numpy(), VALUES[:, :4])


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_every_compression_that_r_uses_is_read(path: Path, pack: Any) -> None:
    raw = write_rda(path, glioma(), compress=False).read_bytes()
    path.write_bytes(pack(raw))
    assert read_glioma(path).n_observations == N


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.95])
def test_a_cut_off_file_is_refused(path: Path, pack: Any, share: float) -> None:
    whole = pack(write_rda(path, glioma(), compress=False).read_bytes())
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
    write_rda(path, {"iris": blocks()["GE"], "cars": [1, 2]})
    with pytest.raises(ValueError, match=r"lacks ge_cgh_locIGR \(found iris, cars\); expected"):
        read_glioma(path)


@pytest.mark.parametrize("value", [[1.0, 2.0], ["text"], {"y": [1]}])
def test_an_object_without_multiblocks_is_refused(path: Path, value: Any) -> None:
    write_rda(path, {"ge_cgh_locIGR": value})
    with pytest.raises(
        ValueError, match=r"lacks multiblocks \(found (no named list|y)\); expected"
    ):
        read_glioma(path)


@pytest.mark.parametrize("block", ["GE", "CGH", "y"])
def test_a_missing_block_is_named(path: Path, block: str) -> None:
    contents = glioma()
    del contents["ge_cgh_locIGR"]["multiblocks"][block]
    write_rda(path, contents)
    with pytest.raises(ValueError, match=rf"lacks {block} \(found .*\); expected"):
        read_glioma(path)


def test_multiblocks_that_are_no_list_are_refused(path: Path) -> None:
    write_rda(path, {"ge_cgh_locIGR": {"multiblocks": [1.0, 2.0]}})
    with pytest.raises(ValueError, match=r"lacks GE \(found no named list\); expected"):
        read_glioma(path)


def test_different_numbers_of_rows_are_counted(path: Path) -> None:
    write_rda(path, glioma(CGH=Matrix(VALUES[:-1].tolist())))
    with pytest.raises(ValueError, match=r"different numbers of rows: GE 8, CGH 7, y 8; expected"):
        read_glioma(path)


def test_a_block_of_words_is_refused(path: Path) -> None:
    write_rda(path, glioma(GE=DataFrame({"gene": ["high"] * N})))
    with pytest.raises(ValueError, match=r"multiblocks\$GE in .* does not hold numbers only"):
        read_glioma(path)


def test_a_block_that_is_no_table_is_refused(path: Path) -> None:
    write_rda(path, glioma(CGH=[0.5] * N))
    with pytest.raises(
        ValueError, match=r"multiblocks\$CGH in .* is not a table of rows and columns"
    ):
        read_glioma(path)


@pytest.mark.parametrize(
    "wrong", [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.5, 0.5, 0.0], [float("nan")] * 3]
)
def test_indicators_must_name_one_place_for_each_tumour(path: Path, wrong: list[float]) -> None:
    rows = [[float(code == i) for i in (1, 2, 3)] for code in CODES]
    write_rda(path, glioma(y=Matrix([*rows[:-1], wrong], PLACES)))
    with pytest.raises(
        ValueError, match=r"multiblocks\$y in .* must have exactly one 1 in each row"
    ):
        read_glioma(path)


@pytest.mark.parametrize("codes", [CODES[::-1], CODES[:-1], [1] * N])
def test_codes_and_indicators_must_agree(path: Path, codes: list[int]) -> None:
    write_rda(path, glioma(codes))
    with pytest.raises(ValueError, match=r"location codes y and the indicators .* do not agree"):
        read_glioma(path)


def test_without_the_rda_extra_the_error_names_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rdata", None)
    with pytest.raises(
        ImportError, match=r"needs the package rdata; .*pip install 'reldep\[rda\]'"
    ):
        read_glioma(path)
