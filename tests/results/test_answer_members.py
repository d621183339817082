"""What answers list, and how the columns of their tables are called."""

import json

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

import reldep

ALL = {
    *("n_observations", "measure", "call", "facts", "warnings", "describe", "sentence", "summary"),
    *("plot", "to_frame", "to_json", "to_html", "estimates"),
}
INTERVAL = {"confidence_interval", "as_correlation"}
TESTED = {
    *ALL,
    *INTERVAL,
    *("estimate", "standard_error", "statistic", "df", "pvalue", "log10_pvalue", "alternative"),
    *("covariance", "influence", "influential", "power", "sample_size"),
}
MANY = {*ALL, *INTERVAL, "covariance", "influence"}
SCANNED = {*ALL, "skipped", "is_discovery", "pvalue", "log10_pvalue"}
E = ("estimate", "as_correlation", "standard_error", "low", "high")
T = ("statistic", "pvalue")

rng = np.random.default_rng(0)
X = rng.normal(size=60)
Y, Z = X + rng.normal(size=(2, 60))
FEW = {"n_simulations": 400}
ANSWERS = {
    "compare": (
        lambda: reldep.compare(X, Y, Z),
        {*TESTED, "source", "first", "second"},
        ["relation", *E, *T],
    ),
    "contrast": (
        lambda: reldep.contrast({"x": X, "y": Y}, {("x", "y"): 1}),
        TESTED,
        ["relation", *E, *T],
    ),
    "dependence": (lambda: reldep.dependence(X, Y), {*TESTED, "x", "y"}, ["relation", *E, *T]),
    "groups": (
        lambda: reldep.groups(X, Y, np.repeat(["a", "b"], 30), **FEW),
        {*ALL, *INTERVAL, "estimate", "statistic", "pvalue", "alternative"}
        | {"x", "y", "by", "groups", "differences"},
        ["group", "n", *E],
    ),
    "rank": (
        lambda: reldep.rank(X, {"y": Y, "z": Z}, **FEW),
        {*MANY, "source", "targets", "best", "ranks", "pairwise"},
        ["target", *E, "rank", "rank_low", "rank_high", "may_be_best"],
    ),
    "matrix": (
        lambda: reldep.matrix({"x": X, "y": Y, "z": Z}, **FEW),
        {*MANY, "pairs", "compare", "tree"},
        ["first", "second", *E, "pvalue", "adjusted_pvalue"],
    ),
    "scan": (
        lambda: reldep.scan({"x": X, "z": Z}, Y, X + Z, **FEW),
        {*SCANNED, "sources", "first", "second", "alternative"},
        [
            *("source", "n", "estimate_first", "estimate_second", "estimate", "standard_error"),
            *(*T, "fdr", "adjusted_pvalue"),
        ],
    ),
    "scan targets": (
        lambda: reldep.scan(X, {"y": Y, "z": Z}, **FEW),
        {*SCANNED, *INTERVAL, "source", "targets"},
        ["target", "n", *E, "rank_low", "rank_high", "pvalue", "fdr", "adjusted_pvalue"],
    ),
    "sensitivity": (
        lambda: reldep.sensitivity(X, Y, Z, factors=[0.5, 1, 2]),
        {*ALL, "alternative", "confidence_interval", "factors", "some_pvalue", "every_pvalue"}
        | {"bands"},
        ["factor", "estimate", "standard_error", "low", "high", "band_low", "band_high", *T],
    ),
}


@pytest.mark.parametrize("question", ANSWERS)
def test_an_answer_lists_what_a_reader_wants_and_names_columns_as_all_do(question):
    ask, members, columns = ANSWERS[question]
    answer = ask()
    assert {name for name in dir(answer) if not name.startswith("_")} == members
    assert list(answer.to_frame().columns) == columns
    parts = answer.describe()
    assert list(parts.table.as_dict()) == columns
    assert (parts.kind, parts.sentence) == (type(answer).__name__.lower(), answer.sentence())
    assert str(answer) == answer.summary()
    stored = json.loads(answer.to_json())
    assert (stored["n_observations"], stored["call"]) == (60, answer.provenance.call)
    shown = answer.describe(stored["alpha"]).table.as_dict()
    assert stored["table"] == [dict(zip(columns, row)) for row in zip(*shown.values())]  # noqa: B905
    for name in {"estimate", "pvalue", "df"} & set(stored) & set(members):
        assert stored[name] == getattr(answer, name)
    assert repr(answer).startswith(f"{type(answer).__name__}(")
    assert repr(answer).endswith("n_observations=60)")
    with pytest.raises(AttributeError):
        answer.warnings = ()
    pictures = [*parts.pictures, *(one for part in parts.sections for one in part.pictures)]
    assert pictures
    for picture in pictures:
        figure = Figure(layout="constrained")
        assert picture.draw(figure).figure is figure
    assert plt.get_fignums() == []  # nothing is shown
