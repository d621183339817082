"""The paper's experiment on tumours: does their class depend more on genes or on chromosomes?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import norm

import reldep
from reldep.datasets import load_acc
from reldep.plotting.intervals import ellipse_outline
from reldep.plotting.style import GREY, without_frame
from reproduction import RunRequest
from reproduction.corpora.glioma import read_glioma
from reproduction.output import (
    Output,
    Rows,
    cautions_of,
    image,
    markdown_table,
    pvalue,
    series,
    unprinted_cautions,
)
from reproduction.paper import GLIOMA, GLIOMA_TUMOURS, LEVEL, RADIUS_95

# The paper's two tests, and what this program does unless told otherwise, one-sided like them.
TESTS = ("paper, joint", "paper, split", "default")

# HSICs of these data are of the order of a thousandth.
THOUSAND = 1000.0

_KERNELS = ("delta", "gaussian", "gaussian")


@dataclass(frozen=True, eq=False)
class TumourQuestion:
    """Does a label depend more on the first block than on the second?

    Attributes
    ----------
    names : tuple of str
        Of the label and both blocks.
    blocks : tuple of ndarray
        The label of each tumour and both blocks of measurements.
    """

    names: tuple[str, str, str]
    blocks: tuple[Any, Any, Any]

    def ask(self, test: str, order: np.ndarray | None = None) -> Any:
        """Compare, with the tumours in another order if there is one.

        In the paper's test labels get the linear kernel on indicators, which is Delta.
        """
        blocks = self.blocks if order is None else [block[order] for block in self.blocks]
        if test == "default":
            return reldep.compare(*blocks, names=self.names, alternative="greater")
        method: Literal["joint", "split"] = "split" if test.endswith("split") else "joint"
        return reldep.paper_test(*blocks, kernel=_KERNELS, method=method, names=self.names)


_GLIOMA = """\
Does the place of a glioma in the brain depend more on gene expression than on chromosomal
imbalances? The paper's test has the linear kernel on the indicators of the location, which is the
Delta kernel, and a Gaussian with the median bandwidth on both blocks. The paper found p < 1e-5
with the joint and 0.005 with the split test."""

_REDRAWN = """\
## The paper's figure, redrawn

The paper shows its result as two ellipses around the pair of HSICs, one for each test. We read
their centres, widths and tilts off the printed figure and drew them again below. The caption calls
them two-sigma ellipses, but only as ellipses that hold 95% of the normal law, whose outline is
2.45 standard deviations away, do they fit the p-values printed next to them:"""

_ACC = """\
## Tumours with a known truth

The paper's glioma data do not ship with this package; with the file of the R package gliomaData
`python -m reproduction tumour --data ge_cgh_locIGR.rda` runs the paper's test on them. The
data that ship are of the same kind and have a truth of their own: the classes `C1A.C1B` of
adrenocortical tumours were defined by gene expression and must depend more on expression;
the classes `SCNA.cluster` were defined by copy number and must depend more on copy number
(Zheng et al., 2016, from The Cancer Genome Atlas through the package MultiAssayExperiment,
Ramos et al., 2017). "Paper" is the paper's test, `reldep.paper_test`; "default" is
`reldep.compare` with no option but `alternative="greater"`: CKA with jackknife-t inference."""

_ACC_REMARKS = """\
The paper's joint test finds both truths. The split test gives the first half of the patients to one
block and the rest to the other, so its answer depends on the order of the rows: the last two
columns have its p-values when the patients are divided at random again and again. For
`SCNA.cluster` the order in which the patients come favours the split test by chance: over random
divisions it rejects in a minority of cases. The default is surer of the first truth; of the second
it has the sign right, but not beyond chance."""


def run(request: RunRequest) -> list[Path]:
    """Test, draw and write; see :func:`reproduction.reproduce`."""
    questions = _acc_questions() if request.data is None else _glioma_questions(request.data)
    n_divisions = 500 if request.is_full else 50
    with unprinted_cautions():
        results = {q.names: {test: q.ask(test) for test in TESTS} for q in questions}
        divided = {q.names: _divided(q, n_divisions, request.seed) for q in questions}
    rows = [row for names, found in results.items() for row in _rows(names, found, divided[names])]
    output = Output(request.out)
    output.figure("tumour_ellipses", _figure(results))
    output.table("tumour", rows)
    output.table("tumour_printed", printed_rows())
    output.page("tumour", _paragraphs(request, rows, n_divisions))
    return output.paths


def printed_rows() -> Rows:
    """Return the p-values that the printed ellipses imply, by how wide they are taken to be."""
    return [
        {
            "ellipses": width,
            "radius": radius,
            **{
                f"{test}_{name}": value
                for test, ellipse in GLIOMA.items()
                for name, value in (
                    ("z", ellipse.statistic(radius)),
                    ("p", float(norm.sf(ellipse.statistic(radius)))),
                )
            },
        }
        for width, radius in (("95%", RADIUS_95), ("two-sigma", 2.0))
    ]


def _acc_questions() -> list[TumourQuestion]:
    tumours = load_acc()
    blocks = {name: tumours[name] for name in ("expression", "copy_number")}
    questions = []
    for label, first, second in (
        ("C1A.C1B", "expression", "copy_number"),
        ("SCNA.cluster", "copy_number", "expression"),
    ):
        classes = tumours.clinical[label]
        known = classes.is_not_null()
        # Arrays, because reading a wide frame again for every division would take most of the time.
        data = (
            classes.filter(known).to_numpy(),
            *(blocks[name].filter(known).to_numpy() for name in (first, second)),
        )
        names = (label, first.replace("_", " "), second.replace("_", " "))
        questions.append(TumourQuestion(names, data))
    return questions


def _glioma_questions(path: Path) -> list[TumourQuestion]:
    tumours = read_glioma(path)
    data = (tumours.location, tumours.expression, tumours.cgh)
    return [TumourQuestion(("location", "expression", "copy number"), data)]


def _divided(question: TumourQuestion, n_divisions: int, seed: int) -> np.ndarray:
    """Return the split test's p-values over random divisions of the rows in two halves.

    The split test gives the first half of the rows to one block, so another order divides them
    anew.
    """
    rng = np.random.default_rng(seed)
    n = len(question.blocks[0])
    orders = (rng.permutation(n) for _ in range(n_divisions))
    return np.array([question.ask("paper, split", order).pvalue for order in orders])


def _rows(names: tuple[str, str, str], results: dict[str, Any], divided: np.ndarray) -> Rows:
    label, first, second = names
    rows = []
    for test, result in results.items():
        split = test == "paper, split"
        rows.append(
            {
                "label": label,
                "first": first,
                "second": second,
                "tumours": result.n_observations,
                "test": test,
                "with_first": float(result.estimates[0]),
                "with_second": float(result.estimates[1]),
                "z": result.statistic,
                "p": result.pvalue,
                "median_p_divided": float(np.median(divided)) if split else "",
                "share_below_5_percent": float((divided < LEVEL).mean()) if split else "",
                "cautions": cautions_of(result),
            }
        )
    return rows


def _figure(results: dict[tuple[str, str, str], dict[str, Any]]) -> Figure:
    """Draw the paper's ellipses, and next to them those of the paper's tests on our data."""
    n = 1 + len(results)
    figure = Figure(figsize=(4.2 * n, 5.0), layout="constrained")
    printed, *ours = figure.subplots(1, n)
    draw_printed(printed)
    for ax, (names, found) in zip(ours, results.items(), strict=True):
        for i, test in enumerate(TESTS[:2]):
            result = found[test]
            text = f"{test.removeprefix('paper, ')}: p {_equals(pvalue(result.pvalue))}"
            _draw_ellipse(ax, i, result.estimates, result.covariance, text)
        tumours = found[TESTS[0]].n_observations
        _finish(ax, names, f"{tumours} tumours here, {names[0]}")
    return figure


def draw_printed(ax: Any) -> None:
    """Draw the paper's ellipses again."""
    for i, (test, ellipse) in enumerate(GLIOMA.items()):
        text = f"{test}: p {_equals(ellipse.printed)} (printed)"
        _draw_ellipse(ax, i, np.array(ellipse.hsic), ellipse.covariance(), text)
    names = ("location", "expression", "copy number")
    _finish(ax, names, f"{GLIOMA_TUMOURS} gliomas, as printed")


def _equals(p: str) -> str:
    return p if p.startswith("<") else f"= {p}"


def _draw_ellipse(ax: Any, i: int, centre: np.ndarray, covariance: np.ndarray, text: str) -> None:
    look = series(i)
    outline = THOUSAND * ellipse_outline(centre, covariance, RADIUS_95)
    ax.fill(*outline, color=look.colour, alpha=0.12, linewidth=0)
    ax.plot(*outline, color=look.colour, linestyle=look.line, label=text)
    ax.plot(*(THOUSAND * centre), look.marker, color=look.colour)


def _finish(ax: Any, names: tuple[str, str, str], title: str) -> None:
    """Make both axes alike, and write what they and the two sides of the diagonal stand for."""
    label, first, second = names
    low = min(ax.get_xlim()[0], ax.get_ylim()[0])
    high = max(ax.get_xlim()[1], ax.get_ylim()[1])
    # Room for the words below the ellipses.
    low -= 0.06 * (high - low)
    ax.plot([low, high], [low, high], ":", color=GREY, linewidth=1.2)
    ax.set(xlim=(low, high), ylim=(low, high), aspect="equal")
    ax.set(xlabel=f"1000 HSIC({label}, {first})", ylabel=f"1000 HSIC({label}, {second})")
    ax.locator_params(nbins=6)
    behind = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 1.0}
    grey = {"xycoords": "axes fraction", "color": GREY, "fontsize": "small", "bbox": behind}
    ax.annotate(f"more on {first}", (0.98, 0.02), ha="right", va="bottom", **grey)
    ax.annotate(f"more on {second}", (0.02, 0.98), ha="left", va="top", **grey)
    place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.3}
    ax.legend(title=title, alignment="left", frameon=False, fontsize="small", **place)
    without_frame(ax)


def _paragraphs(request: RunRequest, rows: Rows, n_divisions: int) -> list[str]:
    shipped = request.data is None
    command = f"python -m reproduction tumour --{request.size} --seed {request.seed}"
    return [
        "# Tumours: genes or chromosomes?",
        _GLIOMA,
        f"This page was written by `{command}{'' if shipped else ' --data FILE'}`.",
        _REDRAWN,
        _printed_table(),
        image(
            "tumour_ellipses",
            "Left: the paper's figure, redrawn from its printed ellipses. Right: the same tests on "
            "the data of this page. All ellipses hold 95%; below the dotted line the label depends "
            "more on the first block.",
        ),
        _ACC if shipped else "## The paper's data",
        _table(rows),
        f"The last two columns: the split test over {n_divisions} random divisions.",
        *([_ACC_REMARKS] if shipped else []),
    ]


def _printed_table() -> str:
    lines = [
        [
            f"taken as {row['ellipses']} ellipses",
            *(f"{row[f'{test}_z']:.2f}" for test in GLIOMA),
            *(pvalue(row[f"{test}_p"]) for test in GLIOMA),
        ]
        for row in printed_rows()
    ]
    lines.append(["printed", "", "", *(ellipse.printed for ellipse in GLIOMA.values())])
    return markdown_table(["", "z, joint", "z, split", "p, joint", "p, split"], lines)


def _table(rows: Rows) -> str:
    header = ["label", "more on", "than on", "tumours", "test", "z or t", "p"]
    header += ["median p, divided again", "share with p < 5%"]
    return markdown_table(
        header,
        [
            [
                *(str(row[key]) for key in ("label", "first", "second", "tumours", "test")),
                f"{row['z']:.2f}",
                pvalue(row["p"]),
                *_divided_cells(row),
            ]
            for row in rows
        ],
    )


def _divided_cells(row: dict[str, Any]) -> list[str]:
    if row["test"] != "paper, split":
        return ["", ""]
    return [pvalue(row["median_p_divided"]), f"{row['share_below_5_percent']:.2f}"]
