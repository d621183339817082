"""The paper's experiment on languages: which are nearer to each other, and their tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reldep.experiments.languages import tree
from reldep.experiments.languages.page import paragraphs
from reldep.experiments.languages.questions import LANGUAGES, answers, influence_of
from reldep.experiments.output import Output

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from reldep import Influence
    from reldep.datasets import Dataset
    from reldep.experiments.request import Request


def run(request: Request) -> list[Path]:
    """Test, grow the tree and write; see :func:`reldep.experiments.reproduce`."""
    texts = _texts(request)
    influence = influence_of(texts)
    rows = answers(influence)
    n_draws = 5000 if request.is_full else 500
    groups = tree.grow(influence, n_draws, np.random.default_rng(request.seed))
    output = Output(request.out)
    output.figure("languages_cka", _heatmap(influence))
    output.figure("languages_tree", _tree(groups, influence.names))
    output.table("languages_tests", rows)
    output.table("languages_cka", _cka_rows(influence))
    output.table(
        "languages_tree",
        [
            {"members": " ".join(g.members), "height": g.height, "confidence": g.confidence}
            for g in groups
        ],
    )
    output.page("languages", paragraphs(request, texts, rows, groups, n_draws))
    return output.paths


def _texts(request: Request) -> Dataset:
    from reldep.datasets import load_languages, read_europarl

    return load_languages() if request.data is None else read_europarl(request.data)


def _heatmap(influence: Influence) -> Figure:
    from matplotlib.figure import Figure

    from reldep.plotting import heatmap

    figure = Figure(layout="constrained")
    names = [LANGUAGES[name] for name in influence.names]
    heatmap(tree.cka_matrix(influence), names, figure, measure="cka")
    return figure


def _tree(groups: list[tree.Group], names: tuple[str, ...]) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    tree.draw(groups, tuple(LANGUAGES[name] for name in names), figure.subplots())
    return figure


def _cka_rows(influence: Influence) -> list[dict[str, object]]:
    matrix = tree.cka_matrix(influence)
    return [
        {"language": name, **dict(zip(influence.names, map(float, row), strict=True))}
        for name, row in zip(influence.names, matrix, strict=True)
    ]
