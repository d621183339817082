"""Loaders of the real data that ship with the package."""

from __future__ import annotations

import gzip
import hashlib
import io
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from reldep.datasets._dataset import Dataset
from reldep.kernels.documents import tfidf

if TYPE_CHECKING:
    import polars as pl

CHECKSUMS = "SHA256SUMS"

# The order of the paper: Finnish, then the Romance, then the Germanic languages.
LANGUAGES = ("fi", "it", "fr", "es", "pt", "en", "nl", "de", "da", "sv")


def load_nutrimouse() -> Dataset:
    """Read forty mice: their diet, genotype, liver fatty acids and gene expression.

    Returns
    -------
    Dataset
        Series and frames of polars: ``diet`` (5 kinds of oil), ``genotype`` (``wt`` or
        ``ppar``), ``lipid`` (40 × 21, per cent of fatty acids) and ``gene`` (40 × 120, log
        expression).

    References
    ----------
    Martin et al. (2007), Hepatology 45, 767-777.

    Examples
    --------
    >>> from reldep.datasets import load_nutrimouse
    >>> mice = load_nutrimouse()
    >>> mice
    Dataset 'nutrimouse': 40 observations
      diet      40
      genotype  40
      lipid     40 × 21
      gene      40 × 120
    >>> mice.lipid.columns[:3]
    ['C14.0', 'C16.0', 'C18.0']
    """
    design = _table("nutrimouse_design.csv.gz")
    blocks = {
        "diet": design["diet"],
        "genotype": design["genotype"],
        "lipid": _table("nutrimouse_lipid.csv.gz"),
        "gene": _table("nutrimouse_gene.csv.gz"),
    }
    description = (
        "Forty mice of two genotypes (wt: wild type; ppar: without the receptor PPAR-alpha) on "
        "five diets, four mice in each combination. The diets differ in their oil: ref (corn "
        "and rapeseed), coc (hydrogenated coconut), sun (sunflower), lin (linseed), fish "
        "(corn, rapeseed and fish). Measured in the liver: 21 fatty acids in per cent (lipid) "
        "and the log expression of 120 genes chosen for nutrition (gene). The numbers are as "
        "published and as the R packages CCA and mixOmics (both GPL-2 or later) distribute "
        "them; no separate licence of the measurements is known. Nothing was transformed."
    )
    reference = (
        "Martin, P. G. P. et al. (2007). Novel aspects of PPARalpha-mediated regulation of "
        "lipid and xenobiotic metabolism revealed through a nutrigenomic study. Hepatology 45, "
        "767-777."
    )
    return Dataset("nutrimouse", blocks, description, reference)


def load_acc() -> Dataset:
    """Read 77 adrenocortical tumours: gene expression, copy number and clinical labels.

    The truth is known for two labels: the clusters ``C1A.C1B`` were found in expression data
    and ``SCNA.cluster`` in copy-number data.

    Returns
    -------
    Dataset
        Frames of polars: ``expression`` (77 × 198, log2(x + 1)), ``copy_number`` (77 × 198, -2
        to 2) and ``clinical`` (77 × 19, the patient's code first; some entries are missing).

    References
    ----------
    Zheng et al. (2016), Cancer Cell 29, 723-736; Ramos et al. (2017), Cancer Research 77, e39-e42.

    Examples
    --------
    >>> from reldep.datasets import load_acc
    >>> tumours = load_acc()
    >>> tumours
    Dataset 'acc': 77 observations
      expression   77 × 198
      copy_number  77 × 198
      clinical     77 × 19
    >>> sorted(tumours.clinical["C1A.C1B"].drop_nulls().unique())
    ['C1A', 'C1B']
    """
    import polars as pl

    clinical = _table("acc_clinical.csv.gz")
    expression = _table("acc_expression.csv.gz").select((pl.all().exclude("patient") + 1).log(2))
    copy_number = _table("acc_copy_number.csv.gz").drop("patient")
    blocks = {"expression": expression, "copy_number": copy_number, "clinical": clinical}
    description = (
        "Tumours of 77 patients with adrenocortical carcinoma, from The Cancer Genome Atlas "
        "(open-access tier) through the object miniACC of the Bioconductor package "
        "MultiAssayExperiment (Artistic-2.0): the patients that have both measurements. "
        "expression: RNA sequencing of 198 genes, upper-quartile normalised, log2(x + 1) taken "
        "by this loader. copy_number: GISTIC2 calls of 198 genes, from -2 (deep loss) to 2 "
        "(amplification); 197 genes are in both blocks. clinical: patient, outcome, stage and "
        "the molecular clusters of Zheng et al.; C1A.C1B and mRNA_K4 were found in expression, "
        "SCNA.cluster in copy number. Rows were matched by patient code."
    )
    reference = (
        "Zheng, S. et al. (2016). Comprehensive pan-genomic characterization of adrenocortical "
        "carcinoma. Cancer Cell 29, 723-736. Ramos, M. et al. (2017). Software for the "
        "integration of multiomics experiments in Bioconductor. Cancer Research 77, e39-e42."
    )
    return Dataset("acc", blocks, description, reference)


def load_languages() -> Dataset:
    """Read the same 947 help pages in ten languages, as TF-IDF rows.

    Returns
    -------
    Dataset
        One block per language, in the order fi, it, fr, es, pt, en, nl, de, da, sv: a
        ``scipy.sparse.csr_array`` with 947 rows of length 1. Row ``i`` is the same page in
        every language. The words themselves are not part of the data.

    Examples
    --------
    >>> from reldep.datasets import load_languages
    >>> pages = load_languages()
    >>> list(pages)
    ['fi', 'it', 'fr', 'es', 'pt', 'en', 'nl', 'de', 'da', 'sv']
    >>> pages.n_observations
    947
    """
    from scipy.sparse import csr_array

    blocks = {}
    with np.load(io.BytesIO(_contents("help_pages.npz")), allow_pickle=False) as stored:
        for language in LANGUAGES:
            counts, stems, starts = (
                stored[f"{language}_{part}"] for part in ("counts", "stems", "starts")
            )
            # Stems are numbered without gaps, the most frequent first.
            shape = (len(starts) - 1, int(stems.max()) + 1)
            blocks[language] = tfidf(csr_array((counts, stems, starts), shape=shape))
    description = (
        "947 pages of the LibreOffice help (Mozilla Public License 2.0, in part derived from work "
        "under the Apache License 2.0; the translations are taken to have the licence of the "
        "original, which was not verified file by file), each in Finnish, "
        "Italian, French, Spanish, Portuguese, English, Dutch, German, Danish and Swedish; only "
        "paragraphs translated in all ten. Prepared alike in every language: words of two or "
        "more letters in lower case, Snowball stems, stems in more than half of the pages "
        "dropped as stop words, TF-IDF with scikit-learn's default formula, rows of length 1. "
        "Only numbers are kept, no words; reproduction/build_languages.py in the source repository "
        "made them from the text."
    )
    reference = "The Document Foundation and contributors. LibreOffice Help. help.libreoffice.org."
    return Dataset("languages", blocks, description, reference)


def _contents(name: str) -> bytes:
    """Return the bytes of a shipped file; raise an error if they are missing or changed."""
    folder = resources.files("reldep.datasets") / "data"
    try:
        contents = (folder / name).read_bytes()
        sums = (folder / CHECKSUMS).read_text(encoding="ascii")
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"the data file {error.filename!r} that ships with reldep is missing; "
            "install reldep again"
        ) from error
    expected = {file: digest for digest, file in map(str.split, sums.splitlines())}
    if hashlib.sha256(contents).hexdigest() != expected.get(name):
        raise ValueError(
            f"the data file {str(folder / name)!r} that ships with reldep is damaged: its "
            f"{len(contents)} bytes do not have the SHA-256 sum in {CHECKSUMS}; install reldep "
            "again"
        )
    return contents


def _table(name: str) -> pl.DataFrame:
    import polars as pl

    return pl.read_csv(gzip.decompress(_contents(name)), null_values="NA", infer_schema_length=None)
