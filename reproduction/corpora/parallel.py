"""Reader of any folder of parallel texts: the same documents in several languages."""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from reldep.datasets._dataset import Dataset
from reldep.exceptions import InputError, ReldepWarning
from reldep.kernels.documents import (
    MAX_DOCUMENT_FREQUENCY,
    STEMMERS,
    count_stems,
    has_stemmer,
    require_text_extra,
    tfidf,
)

# HSIC is not defined for fewer observations.
FEWEST_DOCUMENTS = 4

LAYOUT = (
    "Expected is one file per language with one document per line (fr.txt, it.txt, ...), or one "
    "folder per language with one file per document (fr/a.txt, it/a.txt, ...)."
)

# An ISO 639 code of two or three letters, perhaps with a script or a country: pt, pt-BR, zh_Hans.
_CODE = re.compile(r"[a-z]{2,3}([-_][a-z0-9]+)*", re.IGNORECASE)
# Their words cannot be told by spaces: the text pipeline takes pairs of characters.
_WITHOUT_SPACES = ("ja", "km", "lo", "my", "th", "zh")
_CODES = {name: code for code, name in STEMMERS.items()}

Item = TypeVar("Item")


def read_parallel(directory: str | os.PathLike[str]) -> Dataset:
    r"""Read the same documents in several languages from a folder, as TF-IDF rows.

    The folder has one of two layouts, in UTF-8:

    - one file per language with one document per line, ``fr.txt``, ``it.txt``, ...: line i is the
      same document in every file, and an empty line is a document that is not translated;
    - one folder per language with one file per document, ``fr/a.txt``, ``it/a.txt``, ...: files of
      the same name (below the folder of the language) are the same document.

    A file or folder is named by the code of its language (ISO 639: ``fr``, ``pt-BR``) or by its
    English name (``french``); other names are passed over. Documents that lack text in one of
    the languages are left out, and a warning says how many.

    Words are cut to their stems where Snowball has a stemmer for the language; languages without
    spaces between words (zh, ja, th, ...) are cut into pairs of characters.

    Parameters
    ----------
    directory : path

    Returns
    -------
    Dataset
        One block per language: a ``scipy.sparse.csr_array`` with a row of length 1 for each
        document.

    Warns
    -----
    ReldepWarning
        If the languages were prepared differently, some stemmed and some not: their rows then
        differ in more than the language.
    ReldepWarning
        If documents were left out.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from reproduction.corpora.parallel import read_parallel
    >>> english = ["red fish", "blue fish", "old boat", "new boat", "green tree"]
    >>> french = ["poisson rouge", "poisson bleu", "vieux bateau", "bateau neuf", "arbre vert"]
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "en.txt").write_text("\n".join(english), encoding="utf-8")
    ...     _ = Path(folder, "fr.txt").write_text("\n".join(french), encoding="utf-8")
    ...     read_parallel(folder)
    Dataset 'parallel texts': 5 observations
      en  5 × 8
      fr  5 × 8
    """
    require_text_extra()
    texts = _texts(_find(Path(directory)))
    chosen = _in_every_language(texts)
    kinds = {name: _preparation(_code(name)) for name in texts}
    _caution_unlike(kinds)
    blocks = {
        name: tfidf(
            count_stems(
                [documents[key] for key in chosen],
                _code(name) if kinds[name] == "stems" else None,
            )
        )
        for name, documents in texts.items()
    }
    description = (
        f"{len(chosen)} documents in {len(texts)} languages, read from {os.fspath(directory)!r}. "
        f"Prepared as {_listed(kinds)}; what is in more than {MAX_DOCUMENT_FREQUENCY:.0%} of the "
        "documents was dropped as stop words; TF-IDF with scikit-learn's default formula, rows of "
        "length 1."
    )
    return Dataset("parallel texts", blocks, description, "The source of your texts.")


def spread(documents: list[Item], n_documents: int) -> list[Item]:
    """Choose some of the documents, evenly over all."""
    n = len(documents)
    if n_documents >= n:
        return documents
    return [documents[i * n // n_documents] for i in range(n_documents)]


def check_alignment(n_common: int, n_found: int, missing: Mapping[str, int]) -> None:
    """Raise an error for too few common documents; warn of those that are left out."""
    lacks = ", ".join(
        f"{language} lacks {n}"
        for language, n in sorted(missing.items(), key=lambda item: -item[1])
        if n
    )
    dropped = f"{n_found - n_common} of {n_found} documents are not in every language ({lacks})"
    if n_common < FEWEST_DOCUMENTS:
        raise InputError(
            f"{n_common} documents have text in every language and at least {FEWEST_DOCUMENTS} are "
            f"needed: {dropped}. Ask for fewer languages."
        )
    if n_common < n_found:
        # The reader that the user called is two calls above.
        warnings.warn(ReldepWarning(f"{dropped}; they were left out."), stacklevel=4)


def _find(directory: Path) -> dict[str, Path]:
    """Return the file or folder of every language."""
    if not directory.is_dir():
        raise FileNotFoundError(f"directory={str(directory)!r} is not a folder. {LAYOUT}")
    files = {path.stem: path for path in sorted(directory.glob("*.txt")) if _is_language(path.stem)}
    folders = {
        path.name: path
        for path in sorted(directory.iterdir())
        if path.is_dir() and _is_language(path.name)
    }
    if files and folders:
        raise InputError(
            f"{str(directory)!r} has files ({', '.join(files)}) and folders ({', '.join(folders)}) "
            f"that are named by a language. {LAYOUT}"
        )
    found = files or folders
    if not found:
        raise FileNotFoundError(f"{str(directory)!r} has no text of any language. {LAYOUT}")
    return found


def _is_language(name: str) -> bool:
    return _CODE.fullmatch(name) is not None or name.lower() in _CODES


def _code(name: str) -> str:
    """Return the ISO 639 code of a language without script and country."""
    lower = name.lower()
    return _CODES.get(lower, re.split("[-_]", lower)[0])


def _texts(found: dict[str, Path]) -> dict[str, dict[str, str]]:
    """Read the documents of every language by their key, those without text left out."""
    if next(iter(found.values())).is_dir():
        keyed = {
            name: {
                path.relative_to(folder).as_posix(): _read(path)
                for path in sorted(folder.rglob("*.txt"))
            }
            for name, folder in found.items()
        }
    else:
        lines = {name: _lines(path) for name, path in found.items()}
        _check_as_long(lines)
        keyed = {
            # Padded, so that keys sort as numbers do.
            name: {f"{i:09d}": line for i, line in enumerate(those, start=1)}
            for name, those in lines.items()
        }
    return {
        name: {key: text for key, text in documents.items() if text.strip()}
        for name, documents in keyed.items()
    }


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{str(path)!r} is not UTF-8 from byte {error.start + 1} on. Save the file as UTF-8."
        ) from error


def _lines(path: Path) -> list[str]:
    # Not splitlines, which would also break at form feeds and other rare characters.
    lines = _read(path).split("\n")
    return lines if lines[-1] else lines[:-1]


def _check_as_long(lines: dict[str, list[str]]) -> None:
    lengths = {name: len(those) for name, those in lines.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} {n}" for name, n in lengths.items())
        raise InputError(
            f"the files have different numbers of lines ({listed}), so line i is not the same "
            "document in all of them. Give every document the same line in every file, an empty "
            "one where there is no translation."
        )


def _in_every_language(texts: dict[str, dict[str, str]]) -> list[str]:
    """List the documents that all languages have, in order."""
    found = set[str]().union(*texts.values())
    common = found.intersection(*texts.values())
    missing = Counter({name: len(found) - len(documents) for name, documents in texts.items()})
    check_alignment(len(common), len(found), missing)
    return sorted(common)


def _preparation(code: str) -> str:
    """Return what the documents of a language are cut into."""
    if code in _WITHOUT_SPACES:
        return "pairs of characters"
    return "stems" if has_stemmer(code) else "words"


def _listed(kinds: Mapping[str, str]) -> str:
    """List what was made of which languages: "stems (fr, it) and words (lv)"."""
    by_kind: dict[str, list[str]] = {}
    for name, kind in kinds.items():
        by_kind.setdefault(kind, []).append(name)
    return " and ".join(f"{kind} ({', '.join(names)})" for kind, names in by_kind.items())


def _caution_unlike(kinds: Mapping[str, str]) -> None:
    """Warn if the languages were not all prepared in the same way."""
    if len(set(kinds.values())) == 1:
        return
    caution = ReldepWarning(
        f"the languages were prepared differently, as {_listed(kinds)}, because not every language "
        "has a stemmer or spaces between words. Languages that are prepared differently may look "
        "less alike than they are. Leave some out."
    )
    # The user called read_parallel, which called this.
    warnings.warn(caution, stacklevel=3)
