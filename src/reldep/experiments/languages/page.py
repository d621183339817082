"""The page of the experiment on languages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reldep.experiments.languages.questions import LEVEL, MEASURES
from reldep.experiments.output import image, markdown_table, pvalue

if TYPE_CHECKING:
    from reldep.datasets import Dataset
    from reldep.experiments.languages.tree import Group
    from reldep.experiments.request import Request

TITLES = {
    "groups": "Is a language nearer to one of its own group?",
    "romance": "Which Romance languages are nearer to each other?",
    "contrasts": "Is a language nearer to two others, together, than to a third?",
}

_INTRODUCTION = """\
Documents that say the same in ten languages: if two languages are close, documents that are
similar in the one are similar in the other, and the dependence between their TF-IDF rows is
strong. The paper used 3,000 documents of the Europarl corpus. Each row of a table asks whether
the source is nearer to the first target than to the second; a small p says yes. All kernels are
Gaussian with the median bandwidth of each language."""

_PAPER = """\
The questions are the paper's. Its p-values are left out: we could not check them against the
printed tables. `reldep reproduce languages --data DIR` runs the same tables on Europarl, the
paper's corpus."""

_STOP_WORDS = """\
### How the words were chosen, and how much that matters

The shipped corpus has 947 pages of software help. One rule was used for all languages: stems
found in more than half of the pages are dropped as stop words. Published stop-word lists were not
used because they differ in length from language to language. We tried 15 other ways to prepare
the text. Number of questions answered yes at 5 %:

| table | hsic, shipped | hsic, others | cka, shipped | cka, others |
| :-- | --: | --: | --: | --: |
| groups, of 9 | 7 | 6 to 7 | 8 | 6 to 8 |
| romance, of 8 | 5 | 2 to 7 | 8 | 7 to 8 |
| contrasts, of 5 | 3 | 3 | 5 | 5 |

So the Romance table with raw HSIC hangs on how the text is prepared, and the rest hardly does.
That English is nearer to German than to Spanish (`en de|es`) was found in none of them: in this
corpus English sides with the Romance languages. Raw HSIC also measures how varied a language's own
rows are; CKA divides that out, which is why it decides more questions.

The tree below tells the same: it parts Finnish from the others and the Germanic from the Romance
languages, but puts English among the Romance ones and Danish beside Dutch instead of Swedish. A
likely reason, not a proven one: all pages are translations from English, and how close a
translation stays to the original differs from team to team."""


def paragraphs(
    request: Request,
    texts: Dataset,
    rows: list[dict[str, Any]],
    groups: list[Group],
    n_draws: int,
) -> list[str]:
    """Write the page."""
    shipped = request.data is None
    command = f"reldep reproduce languages --{request.size} --seed {request.seed}"
    command += "" if shipped else " --data DIR"
    tables = [text for kind in TITLES for text in _table(kind, rows)]
    return [
        "# Ten languages",
        _INTRODUCTION,
        f"This page was written by `{command}`. {texts.description}",
        _PAPER,
        *tables,
        *([_STOP_WORDS] if shipped else []),
        "## All pairs, and a tree",
        image("languages_cka", "CKA of all pairs of languages."),
        image(
            "languages_tree",
            "Average linkage on 1 - CKA; the percentage is the confidence of a group.",
        ),
        "The confidence of a group is the share of trees that have it when the CKAs are drawn "
        f"{n_draws} times from the joint normal law that the test uses.",
        markdown_table(
            ["group", "1 - CKA where it meets", "confidence"],
            [
                [" ".join(group.members), f"{group.height:.3f}", f"{100 * group.confidence:.0f} %"]
                for group in groups
            ],
        ),
    ]


def _table(kind: str, rows: list[dict[str, Any]]) -> list[str]:
    """Give the heading of one of the three tables, the table, and the count at 5 %."""
    chosen = {
        measure: [row for row in rows if row["table"] == kind and row["measure"] == measure]
        for measure in MEASURES
    }
    lines = [
        [
            first["source"],
            first["near"],
            first["far"],
            *(cell for row in (first, second) for cell in (f"{row['z']:.2f}", pvalue(row["p"]))),
        ]
        for first, second in zip(*chosen.values(), strict=True)
    ]
    header = ["source", "nearer to", "than to", "z, hsic", "p, hsic", "z, cka", "p, cka"]
    counts = " and ".join(
        f"{sum(row['p'] < LEVEL for row in found)} of {len(found)} with {measure}"
        for measure, found in chosen.items()
    )
    return [f"## {TITLES[kind]}", markdown_table(header, lines), f"Yes at 5 %: {counts}."]
