"""The kernel for documents: words counted, stemmed and weighted by how rare they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from reldep.data.checks import check_level
from reldep.data.variables import Items, Labels, Sparse, Variable
from reldep.kernels._strings import refuse_where, strings_of
from reldep.kernels.mapped import MappedKernel
from reldep.kernels.tfidf import (
    MAX_DOCUMENT_FREQUENCY,
    check_language,
    count_stems,
    tfidf,
    words,
)

if TYPE_CHECKING:
    from reldep.kernels.resolve import KernelSpec


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
        the Snowball stemmer of the language. None leaves words as they are.
    kernel : str, Kernel or callable, default "gaussian"
        The kernel on the rows; "linear" is the cosine of the documents and lets the engine work
        with the sparse rows directly.
    max_document_frequency : float, default 0.5
        Stems found in a larger share of the documents are dropped as stop words. The rule is
        the same for every language and needs no list.

    Examples
    --------
    >>> from reldep.kernels import Text
    >>> Text("english").is_characteristic
    False
    """

    language: str | None = None
    kernel: KernelSpec = "gaussian"
    max_document_frequency: float = MAX_DOCUMENT_FREQUENCY

    accepts: ClassVar[tuple[type[Variable], ...]] = (Labels, Items)

    def __post_init__(self) -> None:
        if self.language is not None:
            check_language(self.language)
        if self.max_document_frequency != 1:
            check_level("max_document_frequency", self.max_document_frequency)

    @property
    def title(self) -> str:
        return "Text()" if self.language is None else f"Text({check_language(self.language)!r})"

    @property
    def kernel_of_rows(self) -> Any:
        return self.kernel

    def rows(self, variable: Variable) -> Sparse:
        texts = strings_of(variable, "Text")  # type: ignore[arg-type]
        refuse_where(variable.name, [not words(text) for text in texts], "a text without words")
        counts = count_stems(
            texts, self.language, max_document_frequency=self.max_document_frequency
        )
        return Sparse(variable.name, tfidf(counts))
