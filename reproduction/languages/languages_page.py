"""The page of the experiment on languages."""

from __future__ import annotations

from reldep.datasets import Dataset
from reproduction import RunRequest
from reproduction.languages.questions import LAGGED, TESTS
from reproduction.output import Rows, image, markdown_table, pvalue
from reproduction.paper import LEVEL, is_yes

TITLES = {
    "groups": "Is a language nearer to one of its own group?",
    "romance": "Which Romance languages are nearer to each other?",
    "contrasts": "Is a language nearer to two others, together, than to a third?",
}

_INTRODUCTION = """\
The same documents in several languages: if two languages are close, documents that are similar in
one are similar in the other, and their TF-IDF rows depend strongly on each other. All kernels are
Gaussian with the median bandwidth of each language."""

_PAPER = """\
The three tables ask the paper's questions: is the source nearer to the first target than to the
second? All tests are one-sided: a small p says yes. "Printed" is the p-value in the paper, from
3,000 documents of the Europarl corpus (stop words removed by NLTK's lists, Snowball stems, TF-IDF).
"Paper's test" is the same test, `reldep.paper_test`, on the texts of this page; for the last table
it is the paper's general test with the weights (1, 1, -2). "Default" is what `reldep.compare` and
`reldep.contrast` do when told no more than `alternative="greater"`: CKA, which divides out how
varied each language's own rows are, with the jackknife-t inference."""

_OTHER_CORPUS = """\
The texts are not the paper's, so single p-values need not agree. `python -m reproduction
languages --data DIR` runs the same tables on Europarl, the paper's corpus, or on your own texts."""

_STOP_WORDS = """\
### How the words were chosen, and how much that matters

The shipped corpus has 947 pages of software help. One rule was used for all languages: stems found
in more than half of the pages are dropped as stop words. Published stop-word lists were not used
because they differ in length from language to language. We tried 15 other ways to prepare the
text, and counted the questions answered yes at 5% by the paper's test and by CKA with the same
normal law:

| table | HSIC, shipped | HSIC, others | CKA, shipped | CKA, others |
| :-- | --: | --: | --: | --: |
| groups, of 9 | 7 | 6 to 7 | 8 | 6 to 8 |
| romance, of 8 | 5 | 2 to 7 | 8 | 7 to 8 |
| contrasts, of 5 | 3 | 3 | 5 | 5 |

So the Romance table with raw HSIC depends on how the text is prepared, and the rest hardly does.
That English is nearer to German than to Spanish (`en de|es`) was found in none of them: in this
corpus English sides with the Romance languages."""

_TREE_REMARK = """\
The tree parts Finnish from the others and the Germanic from the Romance languages, but puts English
among the Romance ones and Danish next to Dutch instead of Swedish. A likely reason, not a proven
one: all pages are translations from English, and how close a translation stays to the original
differs from team to team."""

_ROMANCE = """\
The tree that the paper judges these tests by (after Gray and Atkinson, 2003), and at each parting
the tests about it: a tick is a yes at 5%, in agreement with the tree."""


def paragraphs(
    request: RunRequest, texts: Dataset, rows: Rows, nearest: Rows, groups: Rows, n_draws: int
) -> list[str]:
    """Return the paragraphs of the page."""
    shipped = request.data is None
    command = f"python -m reproduction languages --{request.size} --seed {request.seed}"
    command += "" if shipped else " --data DIR"
    return [
        f"# Languages: {texts.n_observations} documents in {len(texts)} languages",
        _INTRODUCTION,
        f"This page was written by `{command}`. {texts.description}",
        *(_papers_tables(rows) if rows else []),
        *([_STOP_WORDS] if shipped else []),
        *(_nearest_part(nearest) if nearest else []),
        *_tree_part(groups, n_draws),
        *([_TREE_REMARK] if shipped else []),
    ]


def _papers_tables(rows: Rows) -> list[str]:
    """Return the paper's tables as far as their languages are available."""
    asked = [kind for kind in TITLES if any(row["table"] == kind for row in rows)]
    parts = [_PAPER, _OTHER_CORPUS]
    for kind in asked:
        chosen = [row for row in rows if row["table"] == kind]
        parts += [f"## {TITLES[kind]}", _table(chosen), _counts(chosen)]
        if kind == "romance" and len({row["source"] for row in chosen}) == 3:
            parts.append(image("languages_romance", " ".join(_ROMANCE.split())))
    return [*parts, f"**Over all tables.** {_counts(rows)}", _neighbours(rows)]


def _neighbours(rows: Rows) -> str:
    """Describe what becomes of the default if adjacent documents may depend on each other."""
    plain, lagged = ([row for row in rows if row["test"] == test] for test in ("default", LAGGED))
    cautioned = sum("DependentRows" in row["cautions"] for row in plain)
    text = (
        f"All these tests take the documents as independent. In {cautioned} of {len(plain)} "
        "questions the default cautions that adjacent documents are correlated, as they do where "
        'they treat the same topic, so that p is too small; `max_lag="auto"` allows for it.'
    )
    if not lagged:
        return text
    before, after = (sum(row["p"] < LEVEL for row in found) for found in (plain, lagged))
    return f"{text} With it the default says yes in {after}, without it in {before}."


def _by_test(rows: Rows) -> dict[str, Rows]:
    return {test: [row for row in rows if row["test"] == test] for test in TESTS}


def _table(rows: Rows) -> str:
    header = ["source", "nearer to", "than to", "p, printed"]
    header += ["z, paper's test", "p, paper's test", "t, default", "p, default"]
    lines = [
        [
            *(first[key] for key in ("source", "near", "far", "printed_p")),
            *(cell for row in (first, second) for cell in (f"{row['z']:.2f}", pvalue(row["p"]))),
        ]
        for first, second in zip(*_by_test(rows).values(), strict=True)
    ]
    return markdown_table(header, lines)


def _counts(rows: Rows) -> str:
    """Describe how often each test says yes at 5%, and how often it agrees with the paper."""
    by_test = _by_test(rows)
    n = len(by_test["paper"])
    printed = sum(is_yes(row["printed_p"]) for row in by_test["paper"])
    yes = {test: sum(row["p"] < LEVEL for row in found) for test, found in by_test.items()}
    agree = {
        test: sum(row["agree_at_5_percent"] for row in found) for test, found in by_test.items()
    }
    return (
        f"Yes at 5%: {printed} of {n} in the paper, {yes['paper']} with the paper's test here, "
        f"{yes['default']} with the default. The paper's test here agrees with the printed p at 5% "
        f"in {agree['paper']} of {n}, the default in {agree['default']}."
    )


def _nearest_part(nearest: Rows) -> list[str]:
    lines = [[row["language"], row["may_be_nearest"]] for row in nearest]
    return [
        "## Which language is the nearest?",
        "For every language, those that may be its nearest with 95% confidence: the first set of "
        "`reldep.rank`, which allows for the choice among all others.",
        markdown_table(["language", "may be nearest"], lines),
    ]


def _tree_part(groups: Rows, n_draws: int) -> list[str]:
    lines = [
        [group["members"], f"{group['height']:.3f}", f"{group['confidence']:.0%}"]
        for group in groups
    ]
    return [
        "## All pairs, and a tree",
        image("languages_cka", "CKA of all pairs of languages."),
        image(
            "languages_tree",
            "Average linkage on 1 - CKA; the percentage is the confidence of a group.",
        ),
        "The confidence of a group is the share of trees that have it when the CKAs are drawn "
        f"{n_draws} times from their joint normal law.",
        markdown_table(["group", "1 - CKA where it meets", "confidence"], lines),
    ]
