"""From texts to TF-IDF rows: the one text pipeline of the package.

The corpus that ships and the corpora that users bring go through the same four steps,
alike in every language:

1. words are runs of at least two letters, in lower case;
2. each word is cut to its stem by the Snowball stemmer of its language;
3. stop words are dropped: stems found in more than half of the documents;
4. TF-IDF weights with scikit-learn's default formula, rows scaled to length 1.

Step 3 is a rule and not a list on purpose. Published stop-word lists are of very unequal
length (94 Danish and 1,333 English words in the package stop-words 2025.11.4), so a comparison
of languages would partly compare the lists; the rule treats every language the same.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scipy.sparse import csr_array

# The order of the paper: Finnish, then the Romance, then the Germanic languages.
LANGUAGES = ("fi", "it", "fr", "es", "pt", "en", "nl", "de", "da", "sv")

# Languages of the Europarl corpus that have a Snowball stemmer, by ISO 639-1 code.
STEMMERS = {
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "lt": "lithuanian",
    "nl": "dutch",
    "pt": "portuguese",
    "ro": "romanian",
    "sv": "swedish",
}

MAX_DOCUMENT_FREQUENCY = 0.5

_WORD = re.compile(r"[^\W\d_]{2,}")


def check_language(language: str) -> str:
    """Give back a language code that can be stemmed, or say which ones can."""
    if language in STEMMERS:
        return language
    nearest = difflib.get_close_matches(str(language).lower(), STEMMERS, n=1)
    hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
    raise ValueError(
        f"languages holds {language!r}, for which there is no stemmer; choose from "
        f"{', '.join(STEMMERS)}.{hint}"
    )


def require_text_extra() -> None:
    """Say what to install if the packages of the text pipeline are not there."""
    try:
        import sklearn.feature_extraction.text  # noqa: F401
        import snowballstemmer  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"turning texts into TF-IDF features needs scikit-learn and snowballstemmer "
            f"({error}); install them with: pip install 'reldep[text]'"
        ) from error


def words(text: str) -> list[str]:
    """Lower-case words of a text: runs of two or more letters of any alphabet.

    Examples
    --------
    >>> words("L'éditeur n°2: Öffnen_Sie OK")
    ['éditeur', 'öffnen', 'sie', 'ok']
    """
    # NFC joins a letter and a separate accent into the one letter that a reader sees.
    return _WORD.findall(unicodedata.normalize("NFC", text).lower())


def stems(language: str) -> Callable[[str], list[str]]:
    """Give the function that turns a text in this language into its list of stems."""
    import snowballstemmer

    # Stemming is slow and words repeat: each distinct word is stemmed once.
    stem = cache(snowballstemmer.stemmer(STEMMERS[check_language(language)]).stemWord)
    return lambda text: [stem(word) for word in words(text)]


def count_stems(
    texts: Iterable[str],
    language: str,
    *,
    max_document_frequency: float = MAX_DOCUMENT_FREQUENCY,
) -> csr_array[Any]:
    """How often each document uses each stem, stop words left out.

    Parameters
    ----------
    texts : iterable of str
        The documents.
    language : str
        Their language, a key of ``STEMMERS``.
    max_document_frequency : float, default 0.5
        Stems found in a larger share of the documents are stop words.

    Returns
    -------
    scipy.sparse.csr_array of int, shape (documents, stems)
        Stems are ordered from the most to the least widespread.
    """
    require_text_extra()
    from scipy.sparse import csr_array
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(analyzer=stems(language), max_df=max_document_frequency)
    try:
        counts = csr_array(vectorizer.fit_transform(texts))
    except ValueError as error:
        # scikit-learn's way of saying that no term is left.
        raise ValueError(
            f"no words are left in the {language!r} documents: every stem occurs in more than "
            f"{max_document_frequency:.0%} of them, or they hold no words at all"
        ) from error
    widespread_first = np.argsort(-_document_frequency(counts), kind="stable")
    counts = counts[:, widespread_first]
    counts.sort_indices()
    return counts


def tfidf(counts: csr_array[Any]) -> csr_array[Any]:
    """Weight counts by how rare a stem is, and scale each document to length 1.

    The weight is scikit-learn's default, ``count * (log((1 + n) / (1 + df)) + 1)`` with
    ``n`` documents of which ``df`` hold the stem. A document without any stem stays a row
    of zeros.

    Parameters
    ----------
    counts : scipy.sparse.csr_array
        Stem counts, one document a row.

    Returns
    -------
    scipy.sparse.csr_array of float64
    """
    from scipy.sparse import csr_array

    rarity = np.log((1 + counts.shape[0]) / (1 + _document_frequency(counts))) + 1.0
    weights = counts.data * rarity[counts.indices]
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    lengths = np.sqrt(np.bincount(rows, weights=weights**2, minlength=counts.shape[0]))
    # Only rows that hold a weight are looked up, and those have a positive length.
    return csr_array((weights / lengths[rows], counts.indices, counts.indptr), shape=counts.shape)


def _document_frequency(counts: csr_array[Any]) -> np.ndarray[Any, np.dtype[np.intp]]:
    """In how many documents each stem occurs."""
    return np.bincount(counts.indices, minlength=counts.shape[1])
