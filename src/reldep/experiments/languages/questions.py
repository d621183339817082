"""The paper's questions about ten languages, and their answers from one A."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import reldep
from reldep.experiments.cautions import cautions_of, unprinted_cautions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reldep import Influence

MEASURES = ("hsic", "cka")
LEVEL = 0.05

LANGUAGES = {
    "fi": "Finnish",
    "it": "Italian",
    "fr": "French",
    "es": "Spanish",
    "pt": "Portuguese",
    "en": "English",
    "nl": "Dutch",
    "de": "German",
    "da": "Danish",
    "sv": "Swedish",
}


@dataclass(frozen=True)
class Question:
    """Is a language nearer to some languages, on average, than to another?

    Attributes
    ----------
    kind : {"groups", "romance", "contrasts"}
        The table of the paper that asks it.
    source : str
    near : tuple of str
        One language, or two for a contrast with weights (1, 1, -2).
    far : str
    """

    kind: str
    source: str
    near: tuple[str, ...]
    far: str

    @property
    def weights(self) -> dict[tuple[str, str], float]:
        """The weight of each pair."""
        weights = {(self.source, language): 1.0 for language in self.near}
        return {**weights, (self.source, self.far): -float(len(self.near))}


def _questions(kind: str, text: str) -> tuple[Question, ...]:
    """Read questions written as "source near|far" or "source near near|far"."""
    questions = []
    for line in text.split(", "):
        nearer, far = line.split("|")
        source, *near = nearer.split()
        questions.append(Question(kind, source, tuple(near), far))
    return tuple(questions)


QUESTIONS = (
    *_questions(
        "groups",
        "es pt|fi, fr it|da, it es|fi, pt es|da, de nl|fi, nl en|es, da sv|fr, sv en|it, en de|es",
    ),
    *_questions(
        "romance",
        "fr es|it, fr pt|it, es fr|it, es pt|it, es pt|fr, pt fr|it, pt es|it, pt es|fr",
    ),
    *_questions("contrasts", "da de sv|fi, da sv en|fr, de sv en|it, fr it es|sv, es fr pt|nl"),
)


def influence_of(texts: Mapping[str, Any]) -> Influence:
    """Compute A of all pairs of languages: the only heavy step of this experiment."""
    pairs = list(combinations_with_replacement(texts, 2))
    return reldep.influence(dict(texts), pairs, kernel="gaussian")


def answers(influence: Influence) -> list[dict[str, Any]]:
    """Answer every question with both measures; light algebra on A."""
    return [_row(question, measure, influence) for measure in MEASURES for question in QUESTIONS]


def _row(question: Question, measure: str, influence: Influence) -> dict[str, Any]:
    with unprinted_cautions():
        result = reldep.contrast(influence, question.weights, measure=measure)
    return {
        "table": question.kind,
        "source": question.source,
        "near": " ".join(question.near),
        "far": question.far,
        "measure": measure,
        "estimate": result.estimate,
        "std_error": result.standard_error,
        "z": result.statistic,
        "p": result.pvalue,
        "cautions": cautions_of(result),
    }
