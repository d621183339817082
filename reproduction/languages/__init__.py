"""The paper's experiment on languages: which are nearer to each other, and their tree."""

from __future__ import annotations

from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np

import reldep
from reldep import Influence
from reldep.data.variables import FloatArray
from reldep.datasets import Dataset, load_languages
from reldep.exceptions import InputError
from reldep.stats.trees import average_linkage, groups_of, joint_draws, support
from reproduction import RunRequest
from reproduction.corpora.europarl import is_europarl, read_europarl
from reproduction.corpora.parallel import read_parallel
from reproduction.languages import languages_pictures as pictures
from reproduction.languages.languages_page import paragraphs
from reproduction.languages.questions import KERNEL, answers
from reproduction.output import Output, Rows, unprinted_cautions


def run(request: RunRequest) -> list[Path]:
    """Test, grow the tree and write; see :func:`reproduction.reproduce`."""
    texts = _texts(request)
    names = list(texts)
    pairs = list(combinations_with_replacement(names, 2))
    influence = reldep.influence(dict(texts), pairs, kernel=KERNEL)
    rows = answers(texts, influence, lagged=request.is_full)
    # The slowest part: every ranking reads its texts again.
    nearest = _nearest(texts, request.seed) if request.is_full else []
    n_draws = 5000 if request.is_full else 500
    cka, psi = similarities(influence)
    linkage = average_linkage(cka)
    above = np.triu_indices(len(names), 1)
    draws = joint_draws(cka[above], psi[above], n_draws, np.random.default_rng(request.seed))
    groups = _group_rows(names, linkage, support(linkage, draws))
    output = Output(request.out)
    output.figure("languages_cka", pictures.heatmap(cka, names))
    shares = np.array([group["confidence"] for group in groups])
    output.figure("languages_tree", pictures.tree(linkage, names, shares))
    if set(pictures.ROMANCE) <= set(names):
        output.figure("languages_romance", pictures.romance(rows))
    if rows:
        output.table("languages_tests", rows)
    if nearest:
        output.table("languages_nearest", nearest)
    output.table("languages_cka", _cka_rows(cka, names))
    output.table("languages_tree", groups)
    output.page("languages", paragraphs(request, texts, rows, nearest, groups, n_draws))
    return output.paths


def _texts(request: RunRequest) -> Dataset:
    """Return the texts that ship, or those in the user's folder."""
    if request.data is None:
        return load_languages()
    read = read_europarl if is_europarl(request.data) else read_parallel
    texts = read(request.data)
    if len(texts) < 3:
        raise InputError(
            f"{str(request.data)!r} has the languages {', '.join(texts)}, and to ask which is "
            "nearer takes three. Add the texts of another language."
        )
    return texts


def similarities(influence: Influence) -> tuple[FloatArray, FloatArray]:
    """Return the CKA of all pairs, and the influence of every document on each.

    ``C = H_xy / sqrt(H_xx H_yy)`` changes by ``ψ_xy / sqrt(H_xx H_yy) - C/2 (ψ_xx/H_xx +
    ψ_yy/H_yy)``.

    Returns
    -------
    cka : ndarray, shape (p, p)
    psi : ndarray, shape (p, p, m)
    """
    place = {name: i for i, name in enumerate(influence.names)}
    hsic = np.empty((len(place), len(place)))
    psi = np.empty((*hsic.shape, influence.n_observations))
    for (x, y), value, values in zip(
        influence.pairs, influence.estimates, influence.psi, strict=True
    ):
        for cell in ((place[x], place[y]), (place[y], place[x])):
            hsic[cell], psi[cell] = value, values
    selves = hsic.diagonal()
    scale = np.sqrt(np.outer(selves, selves))
    cka: FloatArray = hsic / scale
    own = psi[range(len(place)), range(len(place))] / selves[:, None]
    psi = psi / scale[:, :, None] - 0.5 * cka[:, :, None] * (own[:, None] + own[None])
    return cka, psi


def _nearest(texts: Dataset, seed: int) -> Rows:
    """Rank, for every language, the others by how near they are."""
    rows = []
    for name in texts:
        others = {other: texts[other] for other in texts if other != name}
        with unprinted_cautions():
            ranking = reldep.rank(texts[name], others, kernel=KERNEL, rng=seed)
        rows.append({"language": name, "may_be_nearest": " ".join(ranking.best)})
    return rows


def _group_rows(names: list[str], linkage: FloatArray, shares: FloatArray) -> Rows:
    return [
        {
            "members": " ".join(names[i] for i in sorted(group)),
            "height": float(height),
            "confidence": float(share),
        }
        for group, height, share in zip(groups_of(linkage), linkage[:, 2], shares, strict=True)
    ]


def _cka_rows(cka: FloatArray, names: list[str]) -> Rows:
    return [
        {"language": name, **dict(zip(names, map(float, row), strict=True))}
        for name, row in zip(names, cka, strict=True)
    ]
