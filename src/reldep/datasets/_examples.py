"""The files that the examples of the documentation name."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import polars as pl

from reldep.datasets import load_nutrimouse
from reldep.io import check_writable, write


def write_examples(folder: Path, *, overwrite: bool = False) -> list[Path]:
    """Write the files that the command lines of the documentation name, and list them.

    ``mice.csv`` contains all of the mice; ``design.csv``, ``lipids.csv`` and ``genes.parquet`` are
    parts of it that can be joined by ``id``, in another order of the rows and with two mice
    less in one part. ``plants.csv`` and ``patients.csv`` are made up.
    """
    folder.mkdir(parents=True, exist_ok=True)
    mice = _mouse_table()
    lipids = [name for name in mice.columns if name.startswith("C")]
    genes = [name for name in mice.columns if name.startswith("gene_")]
    tables = {
        "mice.csv": mice,
        "design.csv": mice.select("id", "diet", "genotype"),
        "lipids.csv": mice.select("id", *lipids).reverse().head(38),
        "genes.parquet": mice.select("id", *genes),
        "plants.csv": _plant_table(),
        "patients.csv": _patient_table(),
    }
    contents: dict[Path, bytes] = {}
    for name, table in tables.items():
        file = io.BytesIO()
        (table.write_csv if name.endswith(".csv") else table.write_parquet)(file)
        contents[folder / name] = file.getvalue()
        check_writable(folder / name, overwrite=overwrite, content=file.getvalue())
    for path, content in contents.items():
        write(path, content, overwrite=overwrite)
    return [folder / name for name in tables]


def _mouse_table() -> pl.DataFrame:
    mice = load_nutrimouse()
    return pl.DataFrame(
        {
            "id": [f"m{i}" for i in range(40)],
            "diet": mice["diet"],
            "genotype": mice["genotype"],
            **{name: mice["lipid"][name] for name in mice["lipid"].columns},
            **{f"gene_{name}": mice["gene"][name] for name in mice["gene"].columns},
        }
    )


def _plant_table() -> pl.DataFrame:
    """Draw 150 plants: growth follows the dose closely, colour roughly."""
    rng = np.random.default_rng(0)
    dose = rng.uniform(0, 10, 150)
    growth = np.sqrt(dose) + rng.normal(0, 0.4, 150)
    colour = np.where(dose + rng.normal(0, 4, 150) > 5, "green", "yellow")
    return pl.DataFrame({"dose": dose, "growth": growth, "colour": colour})


def _patient_table() -> pl.DataFrame:
    """Draw patients whose genes shorten their lives; some are still alive."""
    n = 80
    rng = np.random.default_rng(0)
    genes = rng.normal(size=(n, 5))
    age = rng.integers(35, 85, n)
    lived = rng.exponential(400 * np.exp(-genes[:, 0] - genes[:, 1] - (age - 60) / 60))
    watched = rng.uniform(100, 1500, n)
    died = lived <= watched
    return pl.DataFrame(
        {
            "days": np.ceil(np.minimum(lived, watched)).astype(np.int64),
            "died": died.astype(np.int64),
            "status": 1 + died.astype(np.int64),
            "age": age,
            "sex": rng.choice(["f", "m"], n),
            "ward": np.where(np.arange(n) % 2 == 0, "east", "west"),
            **{f"gene_{i + 1}": genes[:, i].round(3) for i in range(5)},
        }
    )
