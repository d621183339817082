"""The paper's questions about ten languages, and their answers."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

import reldep
from reldep import Influence
from reproduction import paper
from reproduction.output import Rows, cautions_of, unprinted_cautions

# The paper's test, and what this program does unless told otherwise.
TESTS = ("paper", "default")

# Neighbouring documents often treat the same topic: the default, allowing for that.
LAGGED = 'default, max_lag="auto"'

KERNEL = "gaussian"


@dataclass(frozen=True)
class TreeQuestion:
    """Is a language nearer to some languages, on average, than to another?

    Attributes
    ----------
    kind : {"groups", "romance", "contrasts"}
        The table of the paper that asks it.
    source : str
    near : tuple of str
        One language, or two for a contrast with weights (1, 1, -2).
    far : str
    printed : str
        The p-value that the paper prints.
    """

    kind: str
    source: str
    near: tuple[str, ...]
    far: str
    printed: str

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages it is about."""
        return (self.source, *self.near, self.far)

    @property
    def weights(self) -> dict[tuple[str, str], float]:
        """The weight of each pair."""
        weights = {(self.source, language): 1.0 for language in self.near}
        return {**weights, (self.source, self.far): -float(len(self.near))}


QUESTIONS = tuple(
    TreeQuestion(kind, *printed) for kind, table in paper.LANGUAGES.items() for printed in table
)


def questions_about(languages: Container[str]) -> list[TreeQuestion]:
    """Choose the questions whose languages are all there."""
    return [q for q in QUESTIONS if all(language in languages for language in q.languages)]


def answers(texts: Mapping[str, Any], influence: Influence, *, lagged: bool) -> Rows:
    """Answer every question that can be asked, with each test, all of them one-sided.

    Allowing for neighbours takes the texts themselves, and so most of the time.
    """
    rows = []
    for question in questions_about(texts):
        with unprinted_cautions():
            found = {
                "paper": _papers_test(question, texts, influence),
                "default": reldep.contrast(influence, question.weights, alternative="greater"),
            }
            if lagged:
                asked = {name: texts[name] for name in question.languages}
                found[LAGGED] = reldep.contrast(
                    asked,
                    question.weights,
                    kernel=KERNEL,
                    max_lag="auto",
                    alternative="greater",
                )
        rows += [_row(question, test, result) for test, result in found.items()]
    return rows


def _papers_test(question: TreeQuestion, texts: Mapping[str, Any], influence: Influence) -> Any:
    """Run the paper's test, or its general form where there are more than two targets."""
    if len(question.near) == 1:
        data = [texts[name] for name in question.languages]
        return reldep.paper_test(*data, kernel=KERNEL, names=question.languages)
    return reldep.contrast(
        influence,
        question.weights,
        measure="hsic",
        variance="fixed-kernel",
        alternative="greater",
    )


def _row(question: TreeQuestion, test: str, result: Any) -> dict[str, Any]:
    return {
        "table": question.kind,
        "source": question.source,
        "near": " ".join(question.near),
        "far": question.far,
        "test": test,
        "estimate": result.estimate,
        "std_error": result.standard_error,
        "z": result.statistic,
        "p": result.pvalue,
        "printed_p": question.printed,
        "agree_at_5_percent": (result.pvalue < paper.LEVEL) == paper.is_yes(question.printed),
        "cautions": cautions_of(result),
    }
