"""Reader of the Europarl corpus as its source release unpacks it."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from reldep.datasets._dataset import Dataset
from reldep.datasets._shipped import LANGUAGES
from reldep.exceptions import InputError
from reldep.kernels.documents import MAX_DOCUMENT_FREQUENCY, count_stems, require_text_extra, tfidf
from reproduction.corpora.parallel import check_alignment, spread

# In some files the number stands in quotation marks, in others it does not.
_MARK = re.compile(r'<CHAPTER\s+ID\s*=\s*"?([^\s">]+)', re.IGNORECASE)

_LAYOUT = "the source release unpacks to txt/<language>/ep-YY-MM-DD.txt"


# What the same document has in common in all languages: its file and its chapter.
_Key = tuple[str, str]


def read_europarl(
    directory: str | os.PathLike[str],
    languages: Sequence[str] = LANGUAGES,
    *,
    n_documents: int = 3000,
) -> Dataset:
    """Read the Europarl corpus from a folder and turn it into TF-IDF rows.

    The corpus is the "source release" (version 7, 2012), which unpacks to
    ``txt/<language>/ep-YY-MM-DD.txt``: a file for each day or part of a day, the same name in
    every language, with marks ``<CHAPTER ID=..>``. A chapter, a point of the agenda, is a document.
    Two texts are the same document if file and chapter agree. Only documents that have text in all
    the languages are used; a warning says how many were left out.

    Parameters
    ----------
    directory : path
        The folder that contains ``txt``, or ``txt`` itself.
    languages : sequence of str, default the ten of the paper
        ISO 639-1 codes; one block each, in this order.
    n_documents : int, default 3000
        How many documents to use, spread evenly over the whole time; all if there are fewer. The
        default is the paper's number.

    Returns
    -------
    Dataset
        One block per language: a ``scipy.sparse.csr_array`` with a row of length 1 for each
        document, in time order.

    Raises
    ------
    ImportError
        If scikit-learn or snowballstemmer is missing: ``pip install 'reldep[text]'``.
    FileNotFoundError
        If the folder, or the folder of a language, does not exist.
    ValueError
        If there are no files of the expected form, a language has no stemmer, or fewer than
        four documents are in all the languages.

    References
    ----------
    Koehn (2005), Europarl: a parallel corpus for statistical machine translation, MT Summit X.

    Examples
    --------
    >>> from reproduction.corpora.europarl import read_europarl
    >>> speeches = read_europarl("europarl", ["fr", "it", "da"])  # doctest: +SKIP
    >>> speeches.fr.shape  # doctest: +SKIP
    (3000, 12345)
    """
    require_text_extra()
    folders = _language_folders(Path(directory), languages)
    documents, n_found = _in_every_language(folders)
    chosen = spread(documents, n_documents)
    blocks = {
        language: tfidf(count_stems(_texts(folder, chosen), language))
        for language, folder in folders.items()
    }
    description = (
        f"{len(chosen)} chapters of the proceedings of the European Parliament in "
        f"{len(languages)} languages (Europarl), read from {os.fspath(directory)!r} and spread "
        f"evenly over the {len(documents)} that have text in every language; "
        f"{n_found - len(documents)} others were left out. Words of two or more letters in lower "
        "case, Snowball stems, stems in more than "
        f"{MAX_DOCUMENT_FREQUENCY:.0%} of the documents dropped as stop words, TF-IDF with "
        "scikit-learn's default formula, rows of length 1. The publishers of the corpus know of "
        "no copyright restrictions."
    )
    reference = (
        "Koehn, P. (2005). Europarl: a parallel corpus for statistical machine translation. "
        "Proceedings of MT Summit X, 79-86."
    )
    return Dataset("europarl", blocks, description, reference)


def is_europarl(directory: str | os.PathLike[str]) -> bool:
    """Whether a folder looks like the source release of Europarl."""
    return any(_root(Path(directory)).glob("*/ep-*.txt"))


def _root(directory: Path) -> Path:
    return directory / "txt" if (directory / "txt").is_dir() else directory


def _language_folders(directory: Path, languages: Sequence[str]) -> dict[str, Path]:
    if not directory.is_dir():
        raise FileNotFoundError(f"directory {str(directory)!r} is not a folder; {_LAYOUT}")
    root = _root(directory)
    folders = {language: root / language for language in languages}
    lacking = [language for language, folder in folders.items() if not folder.is_dir()]
    if lacking:
        present = sorted(folder.name for folder in root.iterdir() if folder.is_dir())
        raise FileNotFoundError(
            f"{str(root)!r} has no folder for {', '.join(lacking)}; it contains "
            f"{', '.join(present) or 'no folders'}. Expected: {_LAYOUT}"
        )
    empty = [language for language, folder in folders.items() if not any(folder.glob("ep-*.txt"))]
    if empty:
        raise ValueError(
            f"no files ep-*.txt in the folder of {', '.join(empty)} under {str(root)!r}; {_LAYOUT}"
        )
    return folders


def _in_every_language(folders: dict[str, Path]) -> tuple[list[_Key], int]:
    """Return the documents that have text in every language, and count all.

    Only their keys are kept: the texts of the whole corpus need not fit in memory.
    """
    names = {path.name for folder in folders.values() for path in folder.glob("ep-*.txt")}
    documents: list[_Key] = []
    n_found = 0
    missing: Counter[str] = Counter()
    for name in sorted(names, key=_time_order):
        present = {
            language: _documents(folder / name).keys() for language, folder in folders.items()
        }
        found = set[_Key]().union(*present.values())
        n_found += len(found)
        missing.update({language: len(found - keys) for language, keys in present.items()})
        documents += sorted(found.intersection(*present.values()), key=_number_order)
    if not n_found:
        raise InputError(
            "the files contain no <CHAPTER ID=..> mark that is followed by text, so there are no "
            "documents. Is this the source release, and not its sentence-aligned pairs?"
        )
    check_alignment(len(documents), n_found, missing)
    return documents, n_found


def _documents(path: Path) -> dict[_Key, str]:
    """Return the texts of one file by key; none if the language does not have the file."""
    if not path.is_file():
        return {}
    lines: dict[_Key, list[str]] = {}
    key = None
    # The corpus is UTF-8 with a few stray bytes; those must not end the reading.
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        mark = _MARK.match(line)
        if mark is not None:
            key = (path.name, mark[1])
        # What stands before the first mark belongs to no document; <P> and <SPEAKER> are not text.
        elif key is not None and not line.startswith("<") and not line.isspace():
            lines.setdefault(key, []).append(line)
    return {key: " ".join(parts) for key, parts in lines.items() if any(parts)}


def _texts(folder: Path, keys: list[_Key]) -> Iterator[str]:
    for name, group in groupby(keys, key=itemgetter(0)):
        documents = _documents(folder / name)
        yield from (documents[key] for key in group)


def _time_order(name: str) -> tuple[bool, str]:
    # Names start with "ep-" and a year in two digits; the corpus runs from 1996 to 2011.
    return name[3:5] < "90", name


def _number_order(key: _Key) -> list[tuple[int, str]]:
    # A shorter number is a smaller one: chapter 9 comes before chapter 10.
    return [(len(part), part) for part in key]
