"""Forty mice in files of every kind."""

from __future__ import annotations

import gzip

import numpy as np
import polars as pl

from reldep.datasets import load_nutrimouse
from spreadsheets import write_xlsx

LIPIDS, GENES = "lipids=C*", "genes=gene_*"
QUESTION = ("--source", "diet", "--first", LIPIDS, "--second", GENES)
N_GENES = 12


def mouse_table():
    """Forty mice in one table: identity, diet, genotype, fatty acids and some genes."""
    mice = load_nutrimouse()
    genes = mice.gene[:, :N_GENES]
    return pl.DataFrame(
        {
            "id": [f"m{i}" for i in range(40)],
            "diet": mice.diet,
            "genotype": mice.genotype,
            **{name: mice.lipid[name] for name in mice.lipid.columns},
            **{f"gene_{name}": genes[name] for name in genes.columns},
        }
    )


def write_mice(folder):
    """Write the mice in every format, and in three files that can be joined."""
    mice = mouse_table()
    mice.write_csv(folder / "mice.csv")
    mice.write_csv(folder / "mice.tsv", separator="\t")
    mice.write_parquet(folder / "mice.parquet")
    mice.write_ipc(folder / "mice.arrow")
    (folder / "mice.csv.gz").write_bytes(gzip.compress((folder / "mice.csv").read_bytes()))
    write_xlsx(folder / "mice.xlsx", [mice.columns, *mice.rows()])
    lipids = [name for name in mice.columns if name.startswith("C")]
    genes = [name for name in mice.columns if name.startswith("gene_")]
    np.savez(
        folder / "mice.npz",
        diet=mice["diet"].to_numpy().astype(str),
        C=mice.select(lipids).to_numpy(),
        gene=mice.select(genes).to_numpy(),
    )
    mice.select("id", "diet", "genotype").write_csv(folder / "design.csv")
    # Another order of the rows, and two mice fewer.
    mice.select("id", *lipids).reverse().head(38).write_csv(folder / "lipids.csv")
    mice.select("id", *genes).write_parquet(folder / "genes.parquet")
    holes = pl.when(pl.int_range(pl.len()) < 3).then(None).otherwise(pl.col("C14.0"))
    mice.with_columns(holes.alias("C14.0")).write_csv(folder / "holes.csv")
