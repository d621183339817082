"""The kernel for documents, and the one text pipeline of the package behind it.

Texts that ship and texts that users bring go through the same four steps, alike in every
language:

1. words are runs of at least two letters, with the marks on them, in lower case; where a script
   has no spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese), pairs of
   neighbouring characters stand for words;
2. each word is cut to its stem by the Snowball stemmer of its language;
3. stop words are dropped: stems found in more than half of the documents;
4. TF-IDF weights with scikit-learn's default formula, rows scaled to length 1.

Step 3 is a rule and not a list on purpose. Published stop-word lists are of very unequal
length (in one collection 94 Danish and 1,333 English words), so a comparison of languages
would partly compare the lists; the rule treats every language the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from reldep.arguments import check_level
from reldep.data.variables import Items, Labels, Sparse, SparseArray, Variable
from reldep.exceptions import InputError
from reldep.kernels.base import KernelSpec, stacked
from reldep.kernels.mapped import MappedKernel, unit_rows
from reldep.kernels.strings import refuse_where, strings_of
from reldep.system import import_extra
from reldep.words import nearest

# Languages that have a Snowball stemmer, by ISO 639-1 code. The newer ones (cs, eo, et, fa, pl)
# are not in every version of snowballstemmer.
_LANGUAGES = """
    ar arabic, ca catalan, cs czech, da danish, de german, el greek, en english, eo esperanto,
    es spanish, et estonian, eu basque, fa persian, fi finnish, fr french, ga irish, hi hindi,
    hu hungarian, hy armenian, id indonesian, it italian, lt lithuanian, ne nepali, nl dutch,
    no norwegian, pl polish, pt portuguese, ro romanian, ru russian, sr serbian, sv swedish,
    ta tamil, tr turkish, yi yiddish
"""
STEMMERS = {pair.split()[0]: pair.split()[1] for pair in _LANGUAGES.split(",")}

# Stems in a larger share of the documents are stop words: a convention that needs no list and is
# the same for all languages; 15 other ways are counted in docs/reproduction/languages.md.
MAX_DOCUMENT_FREQUENCY = 0.5

# Scripts written without spaces between words: Thai and Lao, Burmese, Khmer, kana, Chinese.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)

# What may stand inside a word without being part of it: soft hyphens and (non-)joiners.
_INVISIBLE = dict.fromkeys([0x00AD, 0x200C, 0x200D, 0x2060])


@dataclass(frozen=True)
class Text(MappedKernel):
    """A kernel between documents, by the words they share.

    A document becomes a sparse row of TF-IDF weights (scikit-learn's default formula, rows of
    length 1), and the rows are compared by `kernel`. Needs the extra ``text``.

    It is not characteristic: the order of the words is lost.

    Parameters
    ----------
    language : str or None, default None
        An ISO 639-1 code or an English name ("en", "french"); words are cut to their stems by
        the Snowball stemmer of the language. None leaves words as they are. In scripts without
        spaces between words, pairs of neighbouring characters stand for words, and the label of
        the fitted kernel mentions it.
    kernel : str, Kernel or callable, default "gaussian"
        The kernel on the rows; "linear" is the cosine of the documents, with the sparse rows
        as explicit features.
    max_document_frequency : float, default 0.5
        Stems found in a larger share of the documents are dropped as stop words. The rule is
        the same for every language and needs no list.

    Examples
    --------
    >>> from reldep.kernels import Text
    >>> texts = ["Dogs bark", "a barking dog", "The cat sleeps", "Cats are asleep"]
    >>> Text("english", kernel="linear")(texts).round(2)
    array([[1.  , 1.  , 0.  , 0.  ],
           [1.  , 1.  , 0.  , 0.  ],
           [0.  , 0.  , 1.  , 0.24],
           [0.  , 0.  , 0.24, 1.  ]])
    """

    language: str | None = None
    kernel: KernelSpec = "gaussian"
    max_document_frequency: float = MAX_DOCUMENT_FREQUENCY

    accepts = (Labels, Items)

    def __post_init__(self) -> None:
        if self.language is not None:
            check_language(self.language)
        if self.max_document_frequency != 1:
            check_level("max_document_frequency", self.max_document_frequency)

    def title_for(self, variable: Variable) -> str:
        unspaced = self._n_unspaced(variable)
        if not unspaced:
            return self.title
        return f"{self.title}, by pairs of characters in {unspaced} texts without spaces"

    def preparation(self, variable: Variable) -> str:
        """Return what the texts are counted by: stems, words, or pairs of characters."""
        if 2 * self._n_unspaced(variable) > len(variable):
            return "pairs of characters"
        return "words" if self.language is None else "stems"

    def _n_unspaced(self, variable: Variable) -> int:
        """Return the number of texts in a script without spaces."""
        texts = strings_of(variable, "Text")  # type: ignore[arg-type]
        pattern = _patterns()[1]
        return sum(not text.isascii() and bool(pattern.search(text)) for text in texts)

    def rows(self, variable: Variable) -> Sparse:
        counts = count_stems(
            self._texts(variable),
            self.language,
            max_document_frequency=self.max_document_frequency,
        )
        return Sparse(variable.name, tfidf(counts))

    def rows_between(self, first: Variable, second: Variable) -> tuple[Sparse, Sparse]:
        both = self._texts(stacked(first, second))
        counts = count_stems(both, self.language, max_document_frequency=1.0)
        n = len(first)
        frequency = _document_frequency(counts[:n])
        known = (frequency > 0) & (frequency <= self.max_document_frequency * n)
        counts = counts[:, np.flatnonzero(known)]
        rows = tfidf(counts, counts[:n])
        return Sparse(first.name, rows[:n]), Sparse(second.name, rows[n:])

    def _texts(self, variable: Variable) -> list[str]:
        texts = strings_of(variable, "Text")  # type: ignore[arg-type]
        refuse_where(variable.name, [not has_words(t) for t in texts], "a text without words")
        return texts


def check_language(language: str, argument: str = "language") -> str:
    """Return the code of a language that has a stemmer; raise for any other.

    Parameters
    ----------
    language : str
        An ISO 639-1 code or the English name.
    argument : str, default "language"
        The name of the caller's argument, for the message.

    Examples
    --------
    >>> check_language("French")
    'fr'
    """
    asked = str(language).lower()
    codes = {name: code for code, name in STEMMERS.items()}
    code = codes.get(asked, asked)
    if code in STEMMERS:
        return code
    raise InputError(
        f"{argument} is {language!r}, for which there is no stemmer"
        f"{nearest(asked, [*STEMMERS, *codes])}; pass None or one of {', '.join(STEMMERS)}."
    )


def require_text_extra() -> None:
    """Raise ImportError with the way to install the text packages if they are missing."""
    for module in ("sklearn.feature_extraction.text", "snowballstemmer"):
        import_extra(module, extra="text", purpose="turning texts into TF-IDF features")


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the pattern of a word and that of a run of characters without spaces.

    A word may contain marks: vowel signs of Indic scripts, points of Hebrew, accents. To Python
    they are not letters.
    """
    codes = (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0))
    marks = "".join(chr(code) for code in codes if unicodedata.category(chr(code)) in ("Mn", "Mc"))
    letters = r"[^\W\d_]"
    return (
        re.compile(rf"{letters}+(?:[{marks}]+{letters}*)*"),
        re.compile(rf"[{_UNSPACED}](?:[{_UNSPACED}]|[{marks}])*"),
    )


def words(text: str, language: str | None = None) -> list[str]:
    """Return the lower-case words of a text.

    Words are runs of two or more letters of any alphabet, with their marks. Runs of
    characters of a script without spaces come as overlapping pairs.

    Parameters
    ----------
    text : str
    language : str or None, default None
        The code of the language; Turkish has its own lower case of I.

    Examples
    --------
    >>> words("L'éditeur n°2: Öffnen_Sie OK")
    ['éditeur', 'öffnen', 'sie', 'ok']
    >>> words("हिन्दी भाषा में"), words("我爱北京")
    (['हिन्दी', 'भाषा', 'में'], ['我爱', '爱北', '北京'])
    """
    word, unspaced = _patterns()
    if not text.isascii():
        # NFC joins a letter and a separate accent into the one letter that a reader sees. Python's
        # lower case of İ is i with a dot of its own, which no other word has.
        text = unicodedata.normalize("NFC", text.translate(_INVISIBLE)).replace("İ", "i")
    if language == "tr":
        text = text.replace("I", "ı")
    text = text.lower()
    if text.isascii() or unspaced.search(text) is None:
        return [run for run in word.findall(text) if len(run) > 1]
    found: list[str] = []
    for run in re.split(f"({unspaced.pattern})", text):
        if unspaced.match(run):
            found += [run[i : i + 2] for i in range(max(1, len(run) - 1))]
        else:
            found += words(run)
    return found


def has_words(text: str) -> bool:
    """Return True if a text has a word, without looking for more than one."""
    if re.search(r"[^\W\d_]{2}", text):
        return True
    return bool(words(text))


def stems(language: str | None) -> Callable[[str], list[str]]:
    """Return the function from a text to its stems; with None, to its words."""
    if language is None:
        return words
    import snowballstemmer

    code = check_language(language)
    if not has_stemmer(code):
        raise InputError(
            f"the installed snowballstemmer has no stemmer for {language!r}; install a newer one "
            "with: pip install --upgrade snowballstemmer."
        )
    # Stemming is slow and words repeat: each distinct word is stemmed once.
    stem = cache(snowballstemmer.stemmer(STEMMERS[code]).stemWord)
    return lambda text: [stem(word) for word in words(text, code)]


def has_stemmer(code: str) -> bool:
    """Return True if the installed snowballstemmer has the language of an ISO 639-1 code.

    Examples
    --------
    >>> has_stemmer("fr"), has_stemmer("ja")
    (True, False)
    """
    import snowballstemmer

    return STEMMERS.get(code) in snowballstemmer.algorithms()


def count_stems(
    texts: Iterable[str],
    language: str | None,
    *,
    max_document_frequency: float = MAX_DOCUMENT_FREQUENCY,
) -> SparseArray:
    """Return how often each document uses each stem, without stop words.

    Parameters
    ----------
    texts : iterable of str
        The documents.
    language : str or None
        Their language, as :func:`check_language` takes it; None leaves words unstemmed.
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

    # A whole 1 would mean "in one document" to scikit-learn, 1.0 means all of them.
    share = float(max_document_frequency)
    vectorizer = CountVectorizer(analyzer=stems(language), max_df=share)
    try:
        counts = csr_array(vectorizer.fit_transform(texts))
    except ValueError as error:
        # scikit-learn raises this if no term is left.
        kind = "" if language is None else f"{language!r} "
        raise InputError(
            f"no words are left in the {kind}documents: every stem occurs in more than "
            f"{max_document_frequency:.0%} of them, or they contain no words"
        ) from error
    widespread_first = np.argsort(-_document_frequency(counts), kind="stable")
    counts = counts[:, widespread_first]
    counts.sort_indices()
    return counts


def tfidf(counts: SparseArray, known: SparseArray | None = None) -> SparseArray:
    """Return counts weighted by how rare a stem is, with each document scaled to length 1.

    The weight is scikit-learn's default, ``count * (log((1 + n) / (1 + df)) + 1)`` with
    ``n`` documents of which ``df`` contain the stem. A document without any stem stays a row
    of zeros.

    Parameters
    ----------
    counts : scipy.sparse.csr_array
        Stem counts, one row per document.
    known : scipy.sparse.csr_array, optional
        The documents from which the rarity of stems is computed; all of `counts` by default.

    Returns
    -------
    scipy.sparse.csr_array of float64
    """
    from scipy.sparse import csr_array

    known = counts if known is None else known
    rarity = np.log((1 + known.shape[0]) / (1 + _document_frequency(known))) + 1.0
    weights = counts.data * rarity[counts.indices]
    return unit_rows(csr_array((weights, counts.indices, counts.indptr), shape=counts.shape))


def _document_frequency(counts: SparseArray) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return the number of documents in which each stem occurs."""
    return np.bincount(counts.indices, minlength=counts.shape[1])
