"""The scripts that make the data files that ship."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from reldep.datasets._shipped import LANGUAGES

ROOT = Path(__file__).parents[2]


def run(script: str, *arguments: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"reproduction.{script}", *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def table(path: Path, *rows: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def read(path: Path) -> list[list[str]]:
    with gzip.open(path, "rt", newline="") as file:
        return list(csv.reader(file))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    table(tmp_path / "nutrimouse/diet.csv", '"diet"', '"lin"', '"sun"')
    table(tmp_path / "nutrimouse/genotype.csv", '"genotype"', '"wt"', '"ppar"')
    table(tmp_path / "nutrimouse/lipid.csv", '"C14.0"', "0.340", "1")
    table(tmp_path / "nutrimouse/gene.csv", '"A","B"', "1,2", "3,4")
    table(tmp_path / "acc/acc_clinic.csv", '"","sex"', '"TCGA-OR-A5J1","m"', '"TCGA-OR-A5J2",NA')
    # Another order, a patient without labels, and the longer codes of samples.
    table(
        tmp_path / "acc/acc_rna.csv",
        '"","G"',
        '"TCGA-OR-A5J2-01A-11R",2.50',
        '"TCGA-OR-A5J1-01A-11R",1',
        '"TCGA-OR-A5J9-01A-11R",9',
    )
    table(tmp_path / "acc/acc_cnv.csv", '"","G"', '"TCGA-OR-A5J1-01A",-1', '"TCGA-OR-A5J2-01A",0')
    return tmp_path


def test_tables_are_copied_digit_by_digit_and_matched_by_patient(
    source: Path, tmp_path: Path
) -> None:
    output = tmp_path / "data"
    done = run("build_tables", source, output)
    assert done.returncode == 0, done.stderr
    assert read(output / "nutrimouse_design.csv.gz") == [
        ["diet", "genotype"],
        ["lin", "wt"],
        ["sun", "ppar"],
    ]
    assert read(output / "nutrimouse_lipid.csv.gz") == [["C14.0"], ["0.340"], ["1"]]
    assert read(output / "acc_expression.csv.gz") == [
        ["patient", "G"],
        ["TCGA-OR-A5J1", "1"],
        ["TCGA-OR-A5J2", "2.50"],
    ]
    assert [row[0] for row in read(output / "acc_copy_number.csv.gz")] == [
        row[0] for row in read(output / "acc_clinical.csv.gz")
    ]


def test_check_sums_are_kept_for_every_file_and_no_part_is_left(
    source: Path, tmp_path: Path
) -> None:
    output = tmp_path / "data"
    run("build_tables", source, output)
    first = {file.name: file.read_bytes() for file in output.iterdir()}
    lines = first.pop("SHA256SUMS").decode().splitlines()
    assert {line.split()[1]: line.split()[0] for line in lines} == {
        name: hashlib.sha256(contents).hexdigest() for name, contents in first.items()
    }
    assert len(first) == 6
    run("build_tables", source, output)
    assert {name: (output / name).read_bytes() for name in first} == first


def test_two_samples_of_one_patient_are_refused(source: Path, tmp_path: Path) -> None:
    table(source / "acc/acc_cnv.csv", '"","G"', '"TCGA-OR-A5J1-01A",-1', '"TCGA-OR-A5J1-06A",0')
    done = run("build_tables", source, tmp_path / "data")
    assert done.returncode != 0
    assert "patient TCGA-OR-A5J1 has more than one sample" in done.stderr
    assert not (tmp_path / "data").exists()


def test_tables_of_different_lengths_are_refused(source: Path, tmp_path: Path) -> None:
    table(source / "nutrimouse/gene.csv", '"A","B"', "1,2")
    done = run("build_tables", source, tmp_path / "data")
    assert "the nutrimouse tables do not have the same number of rows" in done.stderr


def pages(path: Path, texts: list[str]) -> Path:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for i, text in enumerate(texts):
            file.write(json.dumps({"id": f"page{i}"} | dict.fromkeys(LANGUAGES, text)) + "\n")
    return path


def test_language_features_are_counts_by_number(tmp_path: Path) -> None:
    texts = ["alfa alfa beta", "beta gamma", "delta", "delta"]
    output = tmp_path / "data" / "pages.npz"
    done = run("build_languages", pages(tmp_path / "pages.jsonl.gz", texts), output)
    assert done.returncode == 0, done.stderr
    with np.load(output, allow_pickle=False) as stored:
        assert len(stored.files) == 3 * len(LANGUAGES)
        assert stored["fi_counts"].dtype == stored["fi_stems"].dtype == np.uint8
        assert stored["fi_starts"].tolist() == [0, 2, 4, 5, 6]
        # beta and delta are in two pages and come first.
        assert stored["en_stems"].tolist() == [0, 2, 0, 3, 1, 1]
        assert stored["en_counts"].tolist() == [1, 2, 1, 1, 1, 1]


def test_a_page_that_is_not_in_every_language_is_refused(tmp_path: Path) -> None:
    path = pages(tmp_path / "pages.jsonl.gz", ["alfa", " "])
    done = run("build_languages", path, tmp_path / "pages.npz")
    assert "page 'page1' has no text in fi, it" in done.stderr
    assert not (tmp_path / "pages.npz").exists()
