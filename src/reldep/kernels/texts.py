"""Kernels for strings: shared substrings (Spectrum), edits (EditDistance) and words (Text).

Documents go through the same four steps in every language:

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

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from reldep.arguments import check_count, check_level
from reldep.data.variables import (
    Items,
    Labels,
    Mixed,
    Sparse,
    Variable,
    check_varies,
    rows_in_words,
)
from reldep.exceptions import InputError, InputTypeError
from reldep.kernels.base import Rows, check_items, stacked
from reldep.kernels.mapped import MappedKernel, count_matrix, unit_rows
from reldep.kernels.radial import BandwidthKernel, FittedBandwidth, Scale
from reldep.system import import_extra
from reldep.words import nearest

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from reldep.data.variables import FloatArray, IntArray
    from reldep.kernels.choosing import KernelSpec


COMPLEMENTS = str.maketrans("ACGTURYSWKMBDHVNacgturyswkmbdhvn", "TGCAAYRSWMKVHDBNtgcaayrswmkvhdbn")

# Languages that have a Snowball stemmer, by ISO 639-1 code. The newer ones (cs, eo, et, fa, pl)
# are not in every version of snowballstemmer.
STEMMERS = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}

# Stems in a larger share of the documents are stop words.
MAX_DOCUMENT_FREQUENCY = 0.5

# Scripts written without spaces between words: Thai and Lao, Burmese, Khmer, kana, Chinese.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)

# What may stand inside a word without being part of it: soft hyphens and (non-)joiners.
_INVISIBLE = dict.fromkeys([0x00AD, 0x200C, 0x200D, 0x2060])


def strings_of(variable: Labels | Items, kernel: str, *, may_be_empty: bool = False) -> list[str]:
    """Return the string of every observation, in Unicode's composed form (NFC).

    Bytes are decoded as UTF-8.

    Parameters
    ----------
    variable : Labels or Items
        The observations.
    kernel : str
        The name of the kernel, for messages.
    may_be_empty : bool, default False
        Whether empty strings are observations like others.
    """
    values: list[Any] = variable.values() if isinstance(variable, Labels) else list(variable.items)
    check_items(Items(variable.name, values), (str, bytes), kernel, "strings")
    if not may_be_empty:
        refuse_where(variable.name, [not value for value in values], "an empty string")
    return [
        unicodedata.normalize("NFC", value if isinstance(value, str) else _decoded(value, place))
        for value, place in zip(values, _places(variable.name), strict=False)
    ]


def _places(name: str) -> Iterator[str]:
    return (f"observation {row} of {name}" for row in itertools.count())


def _decoded(value: bytes, place: str) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{place} is bytes that are not UTF-8; decode it first.") from error


def refuse_where(name: str, bad: list[bool], fault: str) -> None:
    """Raise if observations have a fault, with their rows."""
    rows = np.flatnonzero(bad).astype(np.int64)
    if len(rows):
        raise InputError(f"{name} has {fault} in {rows_in_words(rows)}; fill in or leave out.")


@dataclass(frozen=True)
class Spectrum(MappedKernel):
    """A kernel between strings, by the substrings of `k` characters they share.

    For DNA, proteins and other strings in which short patterns matter wherever they stand, and
    for lists of tokens (words, notes, clicks), by their runs of `k` tokens. The counts are explicit
    sparse features, so large samples are fast and exact.

    It is not characteristic: strings with the same substrings in another order look the same.

    Parameters
    ----------
    k : int or (int, int), default 3
        The length of the substrings, or the shortest and the longest length, which are counted
        side by side.
    normalize : bool, default True
        Scale the counts of each string to length 1, so that the kernel ignores the lengths of
        the strings.
    reverse_complement : bool, default False
        Read DNA without knowing its strand: a substring and its reverse complement (AAC and
        GTT) count as one.
    ignore_case : bool, default False
        Whether a and A are the same; in genomes small letters often mark repeats.

    References
    ----------
    Leslie, Eskin & Noble (2002), The spectrum kernel, Pacific Symposium on Biocomputing.

    Examples
    --------
    >>> from reldep.kernels import Spectrum
    >>> Spectrum(k=2, normalize=False)(["ABAB", "ABBA", "BABA"])
    array([[5., 3., 4.],
           [3., 3., 3.],
           [4., 3., 5.]])
    >>> Spectrum(k=3, reverse_complement=True)(["AACCC"], ["GGGTT"])
    array([[1.]])
    """

    k: int | tuple[int, int] = 3
    normalize: bool = True
    reverse_complement: bool = False
    ignore_case: bool = False

    accepts = (Labels, Items, Mixed)

    def __post_init__(self) -> None:
        if not isinstance(self.k, tuple):
            check_count("k", self.k, at_least=1)
            return
        if len(self.k) != 2:
            raise InputError(f"`k={self.k!r}`; pass a whole number, or (shortest, longest).")
        check_count("k", self.k[0], at_least=1)
        check_count("k", self.k[1], at_least=self.k[0])

    @property
    def lengths(self) -> range:
        """The lengths of the substrings."""
        shortest, longest = self.k if isinstance(self.k, tuple) else (self.k, self.k)
        return range(shortest, longest + 1)

    def rows(self, variable: Variable) -> Sparse:
        from scipy.sparse import hstack

        sequences = self._sequences(variable)
        short = [len(sequence) < self.lengths[0] for sequence in sequences]
        refuse_where(variable.name, short, f"a string shorter than k={self.lengths[0]}")
        turned = None
        if self.reverse_complement:
            turned = [_reverse_complement(s, variable.name) for s in sequences]  # type: ignore[arg-type]
        counts = hstack([count_windows(sequences, k, turned) for k in self.lengths], format="csr")
        return Sparse(variable.name, unit_rows(counts) if self.normalize else counts)

    def _sequences(self, variable: Variable) -> list[str] | list[tuple[Any, ...]]:
        """Return the string, or the tokens, of every observation."""
        tokens = _tokens_of(variable)
        if tokens is None:
            strings = strings_of(variable, "Spectrum")  # type: ignore[arg-type]
            return [string.upper() for string in strings] if self.ignore_case else strings
        if self.reverse_complement:
            raise InputTypeError(f"{variable.name} has tokens; leave reverse_complement out.")
        if self.ignore_case:
            return [tuple(str(token).upper() for token in row) for row in tokens]
        return tokens


def _tokens_of(variable: Variable) -> list[tuple[Any, ...]] | None:
    """Read lists of tokens; lists of one length come as columns of labels."""
    if isinstance(variable, Mixed):
        columns = [part for part in variable.parts if isinstance(part, Labels)]
        if len(columns) < len(variable.parts):
            raise InputTypeError(f"{variable.name} has numbers; pass strings or lists of tokens.")
        return list(zip(*(column.values() for column in columns), strict=True))
    if isinstance(variable, Items) and isinstance(variable.items[0], (list, tuple)):
        return [tuple(item) for item in variable.items]
    if isinstance(variable, Labels) and isinstance(variable.categories[0], tuple):
        return variable.values()
    return None


def _reverse_complement(strand: str, name: str) -> str:
    """Return the other strand; the letters are nucleotides, including the ambiguous codes."""
    odd = {letter for letter in set(strand) if ord(letter) not in COMPLEMENTS}
    if odd:
        raise InputError(
            f"{name} has {min(odd)!r}, which is not a nucleotide; leave reverse_complement out."
        )
    return strand.translate(COMPLEMENTS)[::-1]


def count_windows(
    sequences: Sequence[Sequence[Any]], k: int, turned: Sequence[Sequence[Any]] | None = None
) -> csr_array:
    """Return the counts of the runs of length k in each sequence, from one pass over all.

    Parameters
    ----------
    sequences : sequence of str or of tuples
    k : int
    turned : sequence, optional
        Each sequence read from the other end; a run and its counterpart there count as one.
    """
    lengths = np.array([len(sequence) for sequence in sequences])
    total = int(lengths.sum())
    letters = _letters([*sequences, *(turned or [])])
    n_letters = int(letters.max()) + 1
    windows = letters
    for shift in range(1, k):
        # Renumbered at each step, so that no alphabet and no k can overflow.
        extended = windows[:-1] * n_letters + letters[shift:]
        windows = np.unique(extended, return_inverse=True)[1]
    owner = np.repeat(np.arange(len(sequences)), lengths)
    ends = np.repeat(np.cumsum(lengths), lengths)
    places = np.arange(total)
    inside = np.flatnonzero(ends - places >= k)
    found = windows[inside]
    if turned is not None:
        # The run at place p, counted from the start, is the one k before place p from the end.
        starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
        mirrored = total + starts[inside] + (ends[inside] - k - inside)
        found = np.minimum(found, windows[mirrored])
    kept = np.unique(found, return_inverse=True)[1]
    return count_matrix(owner[inside], kept, len(sequences))


def _letters(sequences: Sequence[Sequence[Any]]) -> IntArray:
    """Return the characters, or the tokens, of all sequences end to end, as numbers."""
    if all(isinstance(sequence, str) for sequence in sequences):
        joined = "".join(sequences)  # type: ignore[arg-type]
        text = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        return np.unique(text, return_inverse=True)[1].astype(np.int64)
    number: dict[Any, int] = {}
    tokens = (token for sequence in sequences for token in sequence)
    return np.fromiter((number.setdefault(t, len(number)) for t in tokens), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class FittedEditDistance(FittedBandwidth):
    """exp(-d / σ) of the edit distance d."""

    strings: list[str]

    def __len__(self) -> int:
        return len(self.strings)

    def __call__(self, rows: Rows, cols: Rows) -> FloatArray:
        strings = np.array(self.strings, dtype=object)
        block = edit_distances(strings[rows], strings[cols]).astype(np.float64)
        block *= -1.0 / self.chosen.width
        return np.exp(block, out=block)


@dataclass(frozen=True)
class EditDistance(BandwidthKernel):
    """The kernel ``exp(-d / σ)`` of the edit distance d between strings.

    d counts the characters to insert, delete or replace (Levenshtein). For short strings such
    as names and codes, where the order of all characters matters. Needs the extra ``strings``.

    The edit distance has no exact picture in a vector space, so this kernel is **not**
    positive semi-definite for every set of strings, and not characteristic. HSIC with it is
    still a number that can be estimated and compared, but may be 0 or negative under
    dependence. On 300 random DNA strings of length 20 the smallest eigenvalue of the centred
    matrix is -0.06 times the largest; :func:`~reldep.kernels.check_kernel` measures it on
    yours. :class:`Spectrum` is positive semi-definite on all strings.

    Parameters
    ----------
    bandwidth : float or "median", default "median"
        σ in edits, or the exact median of the distances between different observations.
    factor : float, default 1
        Multiplies the bandwidth.

    Examples
    --------
    >>> from reldep.kernels import EditDistance
    >>> EditDistance(bandwidth=2)(["kitten", "sitting", "mitten"]).round(3)
    array([[1.   , 0.223, 0.607],
           [0.223, 1.   , 0.223],
           [0.607, 0.223, 1.   ]])
    """

    accepts = (Labels, Items)

    def fitted(self, variable: Variable) -> FittedEditDistance:
        strings = strings_of(variable, "EditDistance", may_be_empty=True)  # type: ignore[arg-type]
        median = None
        if self.needs_scale:
            check_varies(variable)
            median = median_edit_distance(strings)
        return FittedEditDistance(self.choose(median), strings)


def edit_distances(
    first: Sequence[str] | npt.NDArray[Any], second: Sequence[str] | npt.NDArray[Any]
) -> IntArray:
    """Return the number of edits between every string of the first and of the second list."""
    purpose = "kernel EditDistance"
    process = import_extra("rapidfuzz.process", extra="strings", purpose=purpose)
    scorers = import_extra("rapidfuzz.distance", extra="strings", purpose=purpose)
    distances: IntArray = process.cdist(
        first, second, scorer=scorers.Levenshtein.distance, dtype=np.int64
    )
    return distances


def median_edit_distance(strings: Sequence[str], rows_at_a_time: int = 1_000) -> Scale:
    """Return the exact median of the pairwise distances from their counts, block by block.

    A block of 1,000 rows takes 8 MB per 1,000 strings.
    """
    counts = np.zeros(max(map(len, strings)) + 1, dtype=np.int64)
    for start in range(0, len(strings), rows_at_a_time):
        block = edit_distances(strings[start : start + rows_at_a_time], strings[start:])
        among, later = block[:, : len(block)], block[:, len(block) :]
        counts += np.bincount(later.ravel(), minlength=len(counts))
        # Among these strings each pair occurs twice, and each string with itself.
        twice = np.bincount(among.ravel(), minlength=len(counts))
        twice[0] -= len(block)
        counts += twice // 2
    median = _median_of_counts(counts)
    if median > 0:
        return Scale(median, "median")
    counts[0] = 0
    return Scale(_median_of_counts(counts), "median", has_ties=True)


def _median_of_counts(counts: IntArray) -> float:
    """Return the median of a sample in which the value d occurs ``counts[d]`` times."""
    upto = np.cumsum(counts)
    middle = [(upto[-1] - 1) // 2, upto[-1] // 2]
    return float(np.searchsorted(upto, middle, side="right").mean())


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
) -> csr_array[Any]:
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


def tfidf(counts: csr_array[Any], known: csr_array[Any] | None = None) -> csr_array[Any]:
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


def _document_frequency(counts: csr_array[Any]) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return the number of documents in which each stem occurs."""
    return np.bincount(counts.indices, minlength=counts.shape[1])
