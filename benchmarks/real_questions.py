"""Thirty questions about real data: which cautions does an answer carry?

The questions are those that the data are used for in textbooks, asked once with all defaults;
three are asked again as their cautions advise. ``python benchmarks/real_questions.py`` writes the
table of docs/guide/cautions.md. It needs statsmodels and scikit-learn, which contain the data.
"""

from __future__ import annotations

import statistics
import warnings
from dataclasses import dataclass, field
from typing import Any

from laws import data_set
from tables import DOCS, markdown, publish

import reldep

PAGE = DOCS / "guide" / "cautions.md"


@dataclass(frozen=True)
class Asked:
    """A question about a data set."""

    data: str
    question: str
    arguments: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)

    def answer(self) -> Any:
        """Ask it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ask = getattr(reldep, self.question)
            return ask(*self.arguments, data=data_set(self.data), **self.options)

    def __str__(self) -> str:
        words = [str(one) if isinstance(one, str) else " ".join(one) for one in self.arguments]
        options = [f"{name}={value!r}" for name, value in self.options.items()]
        return f"{self.question}({', '.join([*words, *options])})"


QUESTIONS = (
    Asked("anes96", "compare", ("vote", "PID", "income")),
    Asked("anes96", "rank", ("selfLR", "ClinLR,DoleLR,PID,age,educ,income")),
    Asked("ccard", "compare", ("AVGEXP", "INCOME", "AGE")),
    Asked("committee", "compare", ("BILLS104", "SIZE", "STAFF")),
    Asked("copper", "compare", ("WORLDCONSUMPTION", "COPPERPRICE", "INCOMEINDEX")),
    Asked("cpunish", "compare", ("EXECUTIONS", "INCOME", "PERPOVERTY")),
    Asked("elnino", "compare", ("JAN", "FEB", "JUL")),
    Asked("engel", "dependence", ("income", "foodexp")),
    Asked("fair", "rank", ("affairs", "rate_marriage,age,yrs_married,children,religious,educ")),
    Asked("grunfeld", "compare", ("invest", "value", "capital")),
    Asked("grunfeld", "compare", ("invest", "value", "capital"), {"clusters": "firm"}),
    Asked("heart", "dependence", ("survival", "age")),
    Asked("longley", "compare", ("TOTEMP", "GNP", "POP")),
    Asked("macrodata", "compare", ("infl", "unemp", "tbilrate")),
    Asked("macrodata", "compare", ("infl", "unemp", "tbilrate"), {"max_lag": "auto"}),
    Asked("modechoice", "compare", ("choice", "ttme", "gc")),
    Asked("modechoice", "compare", ("choice", "ttme", "gc"), {"clusters": "individual"}),
    Asked("randhie", "compare", ("mdvis", "lncoins", "physlm")),
    Asked("scotland", "compare", ("YES", "COUTAX", "UNEMPF")),
    Asked("spector", "compare", ("GRADE", "GPA", "TUCE")),
    Asked("stackloss", "compare", ("STACKLOSS", "AIRFLOW", "WATERTEMP")),
    Asked("star98", "compare", ("NABOVE", "LOWINC", "PERASIAN")),
    Asked("statecrime", "compare", ("murder", "poverty", "single")),
    Asked("breast_cancer", "compare", ("target", "mean radius", "mean texture")),
    Asked("diabetes", "rank", ("target", "age,sex,bmi,bp,s5")),
    Asked("iris", "compare", ("target", "sepal=sepal*", "petal=petal*")),
    Asked("linnerud", "compare", ("Weight", "Chins", "Jumps")),
    Asked("wine", "rank", ("target", "alcohol,malic_acid,flavanoids,proline")),
    Asked("nutrimouse", "compare", ("diet", "lipids=lipid*", "genes=gene*")),
    Asked("nutrimouse", "groups", ("lipids=lipid*", "genes=gene*", "genotype")),
)


def kinds(answer: Any) -> list[str]:
    """Return the kinds of the cautions of an answer."""
    return [type(one).__name__.removesuffix("Warning") for one in answer.warnings]


def table() -> str:
    """Return the table of the page, and the median number of cautions."""
    rows, counts = [], []
    for asked in QUESTIONS:
        answer = asked.answer()
        found = kinds(answer)
        counts.append(len(found))
        words = ", ".join(found) or "–"
        rows.append([asked.data, f"`{asked}`", f"{answer.n_observations:,}", words])
    return (
        f"{len(counts)} questions about the data sets of statsmodels and scikit-learn and our own: "
        f"{counts.count(0)} answers have no caution, the median answer has "
        f"{statistics.median(counts):g}, the largest number is {max(counts)}. "
        "`python benchmarks/real_questions.py` makes this table.\n\n"
        + markdown(["data", "question", "rows", "cautions"], rows)
    )


if __name__ == "__main__":
    publish(PAGE, "real questions", table())
