"""Every kernel next to an independent program: ``python benchmarks/kernels_checked.py --publish``.

For each kernel: the largest difference from the reference on a small sample, whether the centred
matrix is positive semi-definite there, and the processor time of the whole matrix at m = 2,000
for both. A reference that would take minutes is timed on fewer rows and its time is scaled by
the number of pairs. The table goes into docs/guide/kernels.md.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import networkx as nx
import numpy as np
from scipy import sparse, stats
from scipy.spatial.distance import cdist
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.gaussian_process.kernels import ExpSineSquared
from sklearn.metrics import pairwise
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from tables import DOCS, markdown, publish

from reldep import Survival, kernels
from reldep.data.objects import read_variable

if TYPE_CHECKING:
    from collections.abc import Callable

M = 2_000
SMALL = 150


@dataclass(frozen=True)
class Case:
    """A kernel, data for it, and another way to the same matrix."""

    name: str
    kernel: Any
    data: Callable[[int], Any]
    reference: Callable[[Any], Any]
    by: str
    most: int = M  # the most rows for the reference


def normal(columns):
    return lambda m: np.random.default_rng(0).normal(size=(m, columns))


def strings(length, alphabet="ACGT"):
    def draw(m):
        letters = np.random.default_rng(0).choice(list(alphabet), (m, length))
        return ["".join(row) for row in letters]

    return draw


def documents(m):
    rng = np.random.default_rng(0)
    vocabulary = strings(6, "abcdefgh")(3000)
    sizes = rng.integers(50, 150, m)
    return [" ".join(vocabulary[i] for i in rng.zipf(1.3, n) % 3000) for n in sizes]


def sets(m):
    rng = np.random.default_rng(0)
    return [set(rng.choice(100, rng.integers(1, 30)).tolist()) for _ in range(m)]


def graphs(m):
    found = []
    for seed in range(m):
        graph = nx.gnp_random_graph(12, 0.25, seed=seed)
        nx.set_node_attributes(graph, {n: "CNO"[(n * seed) % 3] for n in graph}, "label")
        found.append(graph)
    return found


def walks(m):
    rng = np.random.default_rng(0)
    return [rng.normal(size=rng.integers(15, 26)).cumsum() for _ in range(m)]


def bags(m):
    rng = np.random.default_rng(0)
    return [rng.normal(size=(rng.integers(3, 8), 2)) for _ in range(m)]


def lifetimes(m):
    rng = np.random.default_rng(0)
    life, left = rng.exponential(size=(2, m))
    return Survival(np.minimum(life, left), life <= left)


def places(m):
    rng = np.random.default_rng(0)
    return np.column_stack([rng.uniform(-80, 80, m), rng.uniform(-180, 180, m)])


def edit_by_hand(words):
    """Fill Levenshtein's table, one cell after the other."""

    def distance(a, b):
        row = list(range(len(b) + 1))
        for i, letter in enumerate(a, 1):
            diagonal, row[0] = row[0], i
            for j, other in enumerate(b, 1):
                changed = diagonal + (letter != other)
                diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, changed)
        return row[-1]

    return np.exp([[-distance(a, b) / 10.0 for b in words] for a in words])


def subtree_hashes(items):
    """Count the subtree hashes of networkx, with the labels as round 0."""
    counts = []
    for graph in items:
        hashes = nx.weisfeiler_lehman_subgraph_hashes(graph, node_attr="label", iterations=3)
        own = [(i, h) for each in hashes.values() for i, h in enumerate(each)]
        own += [(-1, label) for label in nx.get_node_attributes(graph, "label").values()]
        counts.append(own)
    number: dict[Any, int] = {}
    columns = [number.setdefault(key, len(number)) for own in counts for key in own]
    rows = np.repeat(np.arange(len(counts)), [len(own) for own in counts])
    table = sparse.coo_array((np.ones(len(rows)), (rows, columns))).tocsr()
    return (table @ table.T).toarray()


def minmax_by_hand(rows):
    return np.array([np.minimum(row, rows).sum(1) / np.maximum(row, rows).sum(1) for row in rows])


def block_means(pictures):
    n, height, width = pictures.shape
    means = pictures.reshape(n, height // 2, 2, width // 2, 2).mean(axis=(2, 4)).reshape(n, -1)
    return pairwise.rbf_kernel(means, gamma=1 / 200)


def alignments(series):
    from tslearn.metrics import cdist_gak
    from tslearn.utils import to_time_series_dataset

    return cdist_gak(to_time_series_dataset(series), sigma=15.0)


def bags_by_hand(items):
    return np.array([[pairwise.rbf_kernel(a, b, gamma=0.5).mean() for b in items] for a in items])


def martingales(patients):
    """Write out the log-rank statistic's parts, with the Kaplan-Meier curve of SciPy."""
    lives = [life for life in patients if life is not None]
    t = np.array([life.time for life in lives])
    event = np.array([life.event for life in lives])
    times = np.unique(t[event])
    jumps = ((t[:, None] == times) & event[:, None]).sum(0) / (t[:, None] >= times).sum(0)
    curve = stats.ecdf(stats.CensoredData.right_censored(t, ~event)).sf.evaluate(times)
    u = 1 - (np.concatenate([[1.0], curve[:-1]]) + curve) / 2
    steps = ((t[:, None] == times) & event[:, None]) - (t[:, None] >= times) * jumps
    return steps @ np.exp(-0.5 * (np.subtract.outer(u, u) / 0.25) ** 2) @ steps.T


def log_ratios(shares):
    logs = np.log(shares)
    return pairwise.rbf_kernel(logs - logs.mean(axis=1, keepdims=True), gamma=0.125)


def great_circles(degrees):
    return np.exp(-6371.0088 * pairwise.haversine_distances(np.deg2rad(degrees)) / 1000.0)


def angles_by_hand(degrees):
    radians = np.deg2rad(degrees[:, 0])
    return np.exp(np.cos(np.subtract.outer(radians, radians)) - 1.0)


def same(labels):
    codes = OneHotEncoder().fit_transform(np.array(labels)[:, None])
    return (codes @ codes.T).toarray()


def substrings(words):
    counts = CountVectorizer(analyzer="char", ngram_range=(4, 4), lowercase=False)
    rows = counts.fit_transform(words).astype(float)
    rows = sparse.diags_array(1 / sparse.linalg.norm(rows, axis=1)) @ rows
    return (rows @ rows.T).toarray()


def cosines(texts):
    rows = TfidfVectorizer(token_pattern=r"[^\W\d_]{2,}", max_df=0.5).fit_transform(texts)  # noqa: S106
    return (rows @ rows.T).toarray()


def marks(items):
    table = np.zeros((len(items), 100), dtype=bool)
    for row, own in zip(table, items, strict=True):
        row[list(own)] = True
    return 1.0 - cdist(table, table, "jaccard")


def alleles_by_hand(counts):
    return np.array([1 - np.abs(row - counts).mean(axis=1) / 2 for row in counts])


CASES = [
    Case(
        "Gaussian",
        kernels.Gaussian(2.0),
        normal(5),
        lambda x: pairwise.rbf_kernel(x, gamma=0.125),
        "scikit-learn",
    ),
    Case(
        "Laplace",
        kernels.Laplace(2.0),
        normal(5),
        lambda x: np.exp(-cdist(x, x) / 2.0),
        "SciPy's distances",
    ),
    Case("Distance", kernels.Distance(), normal(5), lambda x: -cdist(x, x), "SciPy's distances"),
    Case("Linear", kernels.Linear(), normal(50), pairwise.linear_kernel, "scikit-learn"),
    Case(
        "Polynomial",
        kernels.Polynomial(3),
        normal(5),
        lambda x: pairwise.polynomial_kernel(x, degree=3, gamma=1.0),
        "scikit-learn",
    ),
    Case(
        "Standardized",
        kernels.Standardized(kernels.Gaussian(2.0)),
        normal(5),
        lambda x: pairwise.rbf_kernel(StandardScaler().fit_transform(x), gamma=0.125),
        "scikit-learn",
    ),
    Case("Delta", kernels.Delta(), strings(1), same, "scikit-learn's one-hot code"),
    Case(
        "Ordered",
        kernels.Ordered("ACGT", kernels.Gaussian(1.0)),
        strings(1),
        lambda x: pairwise.rbf_kernel(np.array([["ACGT".index(v)] for v in x]), gamma=0.5),
        "scikit-learn on places",
    ),
    Case(
        "Composition",
        kernels.Composition(kernels.Gaussian(2.0)),
        lambda m: np.random.default_rng(0).dirichlet(np.ones(6), m),
        log_ratios,
        "the definition",
    ),
    Case(
        "Genotypes",
        kernels.Genotypes(),
        lambda m: np.random.default_rng(0).integers(0, 3, (m, 200)),
        alleles_by_hand,
        "the definition",
    ),
    Case("Bags", kernels.Bags(1.0, "linear"), bags, bags_by_hand, "the definition", 200),
    Case("LogRank", kernels.LogRank(), lifetimes, martingales, "the definition, SciPy's curve"),
    Case("Text", kernels.Text(kernel="linear"), documents, cosines, "scikit-learn"),
    Case("Spectrum", kernels.Spectrum(4), strings(100), substrings, "scikit-learn"),
    Case(
        "EditDistance",
        kernels.EditDistance(10.0),
        strings(20),
        edit_by_hand,
        "Levenshtein's table by hand",
        60,
    ),
    Case("Jaccard", kernels.Jaccard(), sets, marks, "SciPy"),
    Case(
        "MinMax",
        kernels.MinMax(),
        lambda m: np.random.default_rng(0).poisson(1.0, (m, 50)),
        minmax_by_hand,
        "the definition",
    ),
    Case(
        "WeisfeilerLehman",
        kernels.WeisfeilerLehman(3, normalize=False),
        graphs,
        subtree_hashes,
        "networkx's hashes",
    ),
    Case(
        "Images",
        kernels.Images(8, kernels.Gaussian(10.0)),
        lambda m: np.random.default_rng(0).normal(size=(m, 16, 16)),
        block_means,
        "NumPy, scikit-learn",
    ),
    Case("TimeSeries", kernels.TimeSeries(15.0), walks, alignments, "tslearn", 300),
    Case(
        "Periodic",
        kernels.Periodic(24, 1.0),
        lambda m: np.random.default_rng(0).uniform(0, 48, m),
        lambda x: ExpSineSquared(1.0, 24.0)(x[:, None]),
        "scikit-learn",
    ),
    Case(
        "Angles",
        kernels.Angles("degrees", 1.0),
        lambda m: np.random.default_rng(0).uniform(0, 360, (m, 1)),
        angles_by_hand,
        "the definition",
    ),
    Case("Haversine", kernels.Haversine(1000.0), places, great_circles, "scikit-learn"),
]


def seconds(job, *arguments):
    """Return the processor time of the fastest of three runs, or of one that is long."""
    best = np.inf
    for _ in range(3):
        start = time.process_time()
        job(*arguments)
        best = min(best, time.process_time() - start)
        if best > 2.0:
            break
    return best


def examine(case):
    """Measure one kernel."""
    small = case.data(min(SMALL, case.most))
    ours, theirs = case.kernel(small), np.asarray(case.reference(small))
    difference = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
    data = case.data(M)
    report = kernels.check_kernel(case.kernel, data, n_sample=300, raise_on_failure=False)
    variable = read_variable(data, "data")
    case.kernel.fit(variable)(slice(None), slice(None))
    own = seconds(lambda: case.kernel.fit(variable)(slice(None), slice(None)))
    fewer = case.data(case.most)
    other = seconds(case.reference, fewer) * (M / case.most) ** 2
    return {
        "by": case.by,
        "difference": difference,
        "smallest": report.smallest_eigenvalue,
        "ours": own,
        "reference": other,
        "scaled": case.most < M,
    }


def table(found):
    """Return the table in Markdown."""
    rows = []
    for name, row in found.items():
        definite = "yes" if row["smallest"] > -1e-8 else f"no ({row['smallest']:.2f})"
        times = f"{row['ours']:.2f}", f"{row['reference']:.2f}{'*' if row['scaled'] else ''}"
        rows.append([f"`{name}`", row["by"], f"{row['difference']:.0e}", definite, *times])
    header = ["kernel", "checked against", "difference", "positive semi-definite", "s"]
    return markdown([*header, "reference, s"], rows)


def main():
    """Measure, and write the table where it belongs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--publish", action="store_true", help="write docs/guide/kernels.md")
    parser.add_argument("--only", help="one kernel")
    options = parser.parse_args()
    found = {}
    for case in CASES:
        if options.only in (None, case.name):
            found[case.name] = examine(case)
            print(case.name, found[case.name], flush=True)
    if options.publish:
        publish(DOCS / "guide" / "kernels.md", "table", table(found))


if __name__ == "__main__":
    main()
