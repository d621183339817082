"""Make the tables that ship with the package from the published CSV files.

    python -m reproduction.build_tables INPUT OUTPUT

INPUT contains the folders ``nutrimouse`` (diet, genotype, lipid and gene .csv) and ``acc``
(acc_clinic, acc_rna and acc_cnv .csv); OUTPUT is ``src/reldep/datasets/data``. Numbers are
copied digit by digit; the rows of the three acc tables are matched by patient code.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
from pathlib import Path

from reproduction.data_files import write_data_file

PATIENT_CODE = len("TCGA-OR-A5J1")

Table = list[list[str]]


def main() -> None:
    """Read the command line and write the six tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input", type=Path, help="folder that contains nutrimouse/ and acc/")
    parser.add_argument("output", type=Path, help="folder of the package's data files")
    arguments = parser.parse_args()
    tables = nutrimouse(arguments.input / "nutrimouse") | acc(arguments.input / "acc")
    for name, table in tables.items():
        write_data_file(arguments.output / f"{name}.csv.gz", compressed(table))


def nutrimouse(folder: Path) -> dict[str, Table]:
    """Diet and genotype side by side, lipids and genes as they are."""
    diet, genotype, lipid, gene = (
        read(folder / f"{name}.csv") for name in ("diet", "genotype", "lipid", "gene")
    )
    if not len(diet) == len(genotype) == len(lipid) == len(gene):
        raise SystemExit("the nutrimouse tables do not have the same number of rows")
    design = [left + right for left, right in zip(diet, genotype, strict=True)]
    return {"nutrimouse_design": design, "nutrimouse_lipid": lipid, "nutrimouse_gene": gene}


def acc(folder: Path) -> dict[str, Table]:
    """Clinical labels, expression and copy number of the patients that have all three."""
    sources = {
        "acc_clinical": by_patient(read(folder / "acc_clinic.csv")),
        "acc_expression": by_patient(read(folder / "acc_rna.csv")),
        "acc_copy_number": by_patient(read(folder / "acc_cnv.csv")),
    }
    complete = [
        patient
        for patient in sources["acc_clinical"]
        if all(patient in rows for rows in sources.values())
    ]
    return {name: [rows[patient] for patient in complete] for name, rows in sources.items()}


def by_patient(table: Table) -> dict[str, list[str]]:
    """Rows by patient code, the header among them under the key ``patient``."""
    header, *rows = table
    found = {"patient": ["patient", *header[1:]]}
    for barcode, *values in rows:
        patient = barcode[:PATIENT_CODE]
        if patient in found:
            raise SystemExit(f"patient {patient} has more than one sample")
        found[patient] = [patient, *values]
    return found


def read(path: Path) -> Table:
    """All cells of a CSV file, as they are written."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def compressed(table: Table) -> bytes:
    """CSV text in gzip; no time stamp, so the same table gives the same bytes."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(table)
    return gzip.compress(text.getvalue().encode("utf-8"), mtime=0)


if __name__ == "__main__":
    main()
