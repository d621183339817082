"""Dependence given covariates: residuals by one regression, and the questions about them."""

import numpy as np
import pandas as pd
import pytest

import reldep
from reldep.engine.covariates import Covariates, Regression
from reldep.engine.regression import Search


def laws(rng, m=100):
    """What covariates add, what is left beyond them, numbers, labels: as in the reference."""

    def noise():
        return rng.normal(size=m)

    w, V, W = rng.uniform(-2, 2, m), rng.normal(size=(m, 5)), rng.normal(size=(m, 10))
    six, u, effect = rng.integers(0, 6, m), noise(), np.array([0, 2, -1, 1, 3, -2.0])
    steps = (W[:, 0] > 0) * 1.0 + (W[:, 1] > 0)
    tie = (u + 0.5 * noise(), u + 0.7 * noise(), u + 0.7 * noise())
    noise(), noise(), noise()
    apart = (u + 0.5 * noise(), u + 0.6 * noise(), u + 1.6 * noise())
    curve, product = (np.exp(w), 2 * np.sin(2 * w), 0 * w), V[:, 0] * V[:, 1]
    return {
        "labels": ((effect[six], -1.5 * effect[six], 0 * w), tie, [f"g{k}" for k in six]),
        "product": ((product, product + V[:, 2], 0 * w), tie, V),
        "steps": ((2 * steps, 1.5 * steps, -steps), tie, W),
        "curve": (curve, apart, w),
    }


def drawn(law, seed=0, m=100):
    added, left, given = laws(np.random.default_rng(seed), m)[law]
    return [a + b for a, b in zip(added, left, strict=True)], left, given


@pytest.fixture
def confounded(rng):
    """Three variables that follow age; beyond age x and z share something, x and y do not."""
    age = rng.normal(size=150)
    x = age + rng.normal(size=150)
    return x, age + 0.5 * rng.normal(size=150), x + rng.normal(size=150), age


def test_numbers_of_an_independent_program():
    """Difference, its p-value and effective rows; joint steps need several covariates."""
    values, _, given = drawn("curve")
    found = reldep.compare(*values, given=given)
    rows = found.provenance.conditioning.effective_rows
    expected = (0.41248746, 2.3205637e-05, 93.83866)
    assert (found.estimate, found.pvalue, rows) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("rounded", [np.asarray, np.round])
def test_targets_with_one_law_beyond_labels_tie_whatever_the_labels_do(rounded):
    """x and y are moved apart by six labels, z is not; also in whole numbers."""
    rng = np.random.default_rng(0)
    six = rng.integers(0, 6, 4_000)
    moved, u = np.array([0, 2, -1, 1, 3, -2.0])[six], rng.normal(size=4_000)
    x, y, z = u + rng.normal(size=(3, 4_000))
    together = [rounded(one) for one in (x + moved, y - 1.5 * moved, z)]
    found = reldep.compare(*together, given=[f"g{k}" for k in six])
    plain = reldep.compare(x, y, z)
    assert found.pvalue > 0.05
    assert found.estimate == pytest.approx(plain.estimate, abs=0.5 * plain.standard_error)
    assert found.standard_error == pytest.approx(plain.standard_error, rel=0.1)


def _independent(rng, kind):
    if kind == "steps in ten":
        w = rng.normal(size=(100, 10))
        steps = (w[:, 0] > 0) * 1.0 + (w[:, 1] > 0)
        return 2 * steps + rng.normal(size=100), 1.5 * steps + 0.7 * rng.normal(size=100), w
    w = rng.uniform(-2, 2, 100)
    x, y = np.exp(0.6 * w) * rng.normal(size=(2, 100))
    return 3 * w + x, 2 * w + y, w


@pytest.mark.parametrize("kind", ["steps in ten", "a spread"])
def test_conditional_independence_is_rejected_no_more_often_than_said(kind):
    """Of 30 samples at a level of 5%, more than 5 are rejected once in 300 times."""
    drawn = [_independent(np.random.default_rng([5, seed]), kind) for seed in range(30)]
    assert sum(reldep.dependence(x, y, given=w).pvalue < 0.05 for x, y, w in drawn) <= 5
    x, y, w = drawn[0]
    assert reldep.dependence(x, y).pvalue < 1e-6
    spreads = reldep.dependence(x, y, given=w, names=("x", "y")).provenance.conditioning.spreads
    assert spreads == (("x", "y") if kind == "a spread" else ())


SHAPES = {
    "ratings": lambda v: np.digitize(v, [-0.7, 0.9]).astype(float),
    "many zeros": lambda v: np.maximum(v - 0.4, 0.0),
    "counts": lambda v: np.floor(np.exp(0.8 * v)),
    "a rare yes": lambda v: (v > 1.7) * 1.0,
}


@pytest.mark.parametrize("unit", [1.0, 1e150])
@pytest.mark.parametrize("kind", SHAPES)
def test_ratings_counts_and_zeros_that_are_independent_given_a_number(kind, unit):
    """Residuals alone reject .7 to 1 of these; a rare yes .2 by its variances alone."""
    observed, rejected, shapes = SHAPES[kind], 0, []
    for seed in range(30):
        rng = np.random.default_rng([6, seed])
        w, noise = rng.normal(size=300), rng.normal(size=(2, 300))
        x, y = observed(1.5 * w + noise)
        found = reldep.dependence(unit * x, y, given=w, names=("x", "y"))
        rejected += found.pvalue < 0.05
        shapes.append(found.facts["given"]["shapes"])
        if seed == 0 and kind == "ratings":
            clusters = reldep.dependence(x, y, given=w, clusters=np.arange(300) // 5)
            assert clusters.facts["given"]["shapes"] == ("x", "y")
    assert rejected <= 5
    assert shapes.count(() if kind == "a rare yes" else ("x", "y")) >= 27
    related = reldep.dependence(observed(1.5 * w + noise[0]), observed(w + noise[0]), given=w)
    assert related.pvalue < 1e-4


def test_labels_of_which_most_rows_have_one_are_held_fixed(rng):
    """Fitted means are then equal up to rounding in most rows."""
    label = rng.choice(4, 300, p=[0.85, 0.05, 0.05, 0.05])
    x, y = np.array([0.4, 0.8, 1.6, 3.0])[label] * rng.normal(size=(2, 300))
    assert reldep.dependence(x, y, given=[f"g{k}" for k in label]).pvalue > 0.01


def smoother_of(covariates, basis="smooth", place=-3):
    return [one for name, _, one in covariates.smoothers(covariates.Q) if name == basis][place]


@pytest.mark.parametrize("units", [None, np.arange(30) // 3], ids=["rows", "clusters"])
def test_left_out_errors_are_those_of_regressions_without_the_rows(rng, units):
    covariates = Covariates(rng.normal(size=(30, 2)), [np.arange(30) % 3], units)
    smoother, values = smoother_of(covariates), rng.normal(size=(30, 2))
    X = np.column_stack([smoother.straight, smoother.vectors])
    penalty = np.r_[np.zeros(smoother.straight.shape[1]), 1 / smoother.shares - 1]
    found = covariates.left_out(smoother, values)
    for unit in range(30) if units is None else range(10):
        out = np.arange(30) == unit if units is None else units == unit
        on = X[~out]
        fit = np.linalg.solve(on.T @ on + np.diag(penalty), on.T @ values[~out])
        assert found[out] == pytest.approx(values[out] - X[out] @ fit, rel=1e-8)


def answer(values, given, **options):
    found = reldep.compare(*values, given=given, names=("x", "y", "z"), **options)
    return np.array([found.estimate, found.standard_error, found.pvalue])


@pytest.mark.parametrize("law", ["labels", "product", "steps", "curve"])
def test_the_order_of_rows_changes_nothing(law):
    values, _, given = drawn(law)
    order = np.random.default_rng(1).permutation(100)
    shuffled = answer([one[order] for one in values], np.asarray(given)[order])
    assert shuffled == pytest.approx(answer(values, given), rel=1e-8)


@pytest.mark.parametrize("unit", [1e-150, 1e150])
def test_units_and_needless_columns_change_nothing(unit):
    values, _, given = drawn("product")
    plain = answer(values, given)
    assert answer([unit * one for one in values], given) == pytest.approx(plain, rel=1e-8)
    assert answer(values, unit * given) == pytest.approx(plain, rel=1e-8)
    constant = np.column_stack([given, np.full(100, 7.0)])
    assert answer(values, constant) == pytest.approx(plain, rel=1e-8)
    doubled = reldep.compare(*values, given=np.column_stack([given, given[:, 0], given.sum(1)]))
    assert doubled.provenance.conditioning.effective_rows == pytest.approx(90, abs=3)
    assert doubled.estimate == pytest.approx(plain[0], abs=0.5 * plain[1])


@pytest.mark.parametrize("measure", ["cka", "hsic", "dcor"])
def test_covariates_turn_the_answer_around(confounded, measure):
    x, y, z, age = confounded
    assert reldep.compare(x, y, z, given=age, measure=measure, alternative="less").pvalue < 1e-4
    assert reldep.compare(x, y, z, given=age, measure=measure, alternative="greater").pvalue > 0.99
    assert reldep.dependence(x, y, measure=measure).pvalue < 1e-4
    assert reldep.dependence(x, y, given=age, measure=measure).pvalue > 0.05
    assert reldep.dependence(x, z, given=age, measure=measure).pvalue < 1e-4
    noise = np.random.default_rng(3).normal(size=150)
    plain, beside = (reldep.compare(x, y, z, measure=measure, given=g) for g in (None, noise))
    assert beside.estimate == pytest.approx(plain.estimate, abs=0.5 * plain.standard_error)


def test_an_influence_and_blocks_hold_covariates_fixed_too(confounded):
    x, y, z, age = confounded
    compared = reldep.compare(x, y, z, given=age, names=("x", "y", "z"))
    again = reldep.contrast(compared.influence, {("x", "y"): 1, ("x", "z"): -1})
    assert again.pvalue == pytest.approx(compared.pvalue, rel=1e-10)
    assert again.standard_error == pytest.approx(compared.standard_error, rel=1e-10)
    blocks = reldep.compare(x, y, z, given=age, engine=reldep.engine.Blocks(size=50))
    assert blocks.estimate == pytest.approx(compared.estimate, abs=3 * compared.standard_error)


def test_groups_hold_their_label_fixed_too(rng):
    """Beyond age and group the dependence is the same in both; age moves y in one group only."""
    group = np.repeat(["a", "b"], 150)
    age, u = rng.normal(size=(2, 300))
    x, y = u + rng.normal(size=300), u + rng.normal(size=300)
    moved = np.where(group == "a", 0.0, 3.0) + 2 * age
    found = reldep.groups(x + moved, y + moved * (group == "a"), group, given=age)
    plain = reldep.groups(x, y, group)
    for one, other in zip(found.dependences, plain.dependences, strict=True):
        assert one.values == pytest.approx(other.values, abs=0.08)
        assert one.standard_errors == pytest.approx(other.standard_errors, rel=0.35)
    assert "given the covariate" in found.sentence()


def test_scans_apply_the_regression_of_the_fixed_variables_to_every_column(rng):
    age, u = rng.normal(size=(2, 120))
    diet, other = u + age, age + 0.5 * rng.normal(size=120)
    genes = rng.normal(size=(120, 30)) + age[:, None]
    genes[:, :3] += 1.5 * u[:, None]
    frame = pd.DataFrame(genes, columns=[f"g{i}" for i in range(30)])
    frame["same"], frame["kind"] = 2 * age + 1, np.where(u > 0, "p", "q")
    found = reldep.scan(frame, diet, other, given=age, names=("diet", "other"))
    assert set(np.array(found.variables)[found.is_discovery()]) == {"g0", "g1", "g2", "kind"}
    assert dict(found.skipped)["same"] == "determined by the covariates"
    assert not reldep.scan(frame, diet, other).is_discovery().all()
    targets = reldep.scan(diet, frame, given=age)
    assert set(np.array(targets.variables)[targets.fdr < 0.05]) == {"g0", "g1", "g2", "kind"}
    one = reldep.dependence(diet, frame["g5"], given=age)
    row = targets.variables.index("g5")
    assert targets.tests.values[row] == pytest.approx(one.estimate, abs=0.02)
    assert targets.sentence().startswith("Of 31 targets, 4 are related to source given the cov")
    frame.loc[3, "g1"] = np.nan
    gappy = reldep.scan(frame, diet, other, given=age, missing="drop")
    assert "does not allow" in dict(gappy.skipped)["g1"]


def test_rows_of_one_cluster_or_stretch_are_left_out_together(rng):
    subject = np.repeat(np.arange(30), 5)
    own, w = rng.normal(size=(2, 30))[:, subject]
    x, y, z = own + rng.normal(size=(3, 150))
    values = [x + 2 * np.exp(w), y + 2 * np.exp(w), z]
    found = reldep.compare(*values, given=w, clusters=subject)
    plain = reldep.compare(x, y, z, clusters=subject)
    assert found.pvalue > 0.05
    assert reldep.compare(*values, given=w, clusters=tuple(subject)).pvalue == found.pvalue
    assert reldep.compare(*values, clusters=subject).pvalue < 0.01
    assert found.standard_error == pytest.approx(plain.standard_error, rel=0.4)
    assert found.provenance.conditioning.share == 1
    series = reldep.compare(*values, given=w, max_lag=4)
    assert series.provenance.dependence.n_blocks
    assert series.pvalue > 0.05


def test_labels_and_mapped_objects_have_residuals_of_their_indicators_and_rows(rng):
    region = rng.integers(0, 3, 200)
    kind = (region + rng.integers(0, 2, 200)) % 3
    x, y = np.array(list("abc"))[kind], kind + 2 * region + 0.5 * rng.normal(size=200)
    given = np.array(["north", "south", "west"])[region]
    found = reldep.dependence(x, y, given=given, names=("x", "y"))
    assert found.pvalue < 1e-10
    assert found.provenance.kernels["x"]["kernel"].startswith("Linear")
    # The same by hand: indicators less their means within a region.
    indicators = pd.get_dummies(pd.Series(x)).astype(float)
    by_hand = indicators - indicators.groupby(region).transform("mean")
    left = y - pd.Series(y).groupby(region).transform("mean")
    direct = reldep.dependence(by_hand, left, kernel={"x": "linear"}, names=("x", "y"))
    assert found.estimate == pytest.approx(direct.estimate, abs=0.01)
    grade = pd.Series(pd.Categorical(x, categories=list("abc"), ordered=True))
    assert reldep.dependence(grade, y, given=given).pvalue < 0.05
    pairs = zip(kind, region, strict=True)
    texts = [f"{'red' if k else 'blue'} {'hill' if r else 'dale'}" for k, r in pairs]
    told = reldep.dependence(texts, y, given=given, kernel={"x": "text"}, names=("x", "y"))
    assert told.pvalue < 1e-6


@pytest.mark.parametrize("unit", [1.0, 1e200])
@pytest.mark.parametrize("options", [{}, {"measure": "hsic"}, {"measure": "dcor"}], ids=str)
def test_two_numbers_are_two_labels(rng, options, unit):
    """Residuals of 0 and 1 have another shape in every group; independent ones looked related."""
    group = rng.integers(0, 4, 200)
    share = np.array([0.1, 0.4, 0.6, 0.9])[group]
    x, y = rng.random((2, 200)) < share
    given = np.array(list("abcd"))[group]
    found = reldep.dependence(unit * x, unit * y, given=given, **options)
    assert found.pvalue > 0.01
    assert not found.warnings
    labels = reldep.dependence(x, y, given=given, **options)
    assert found.pvalue == pytest.approx(labels.pvalue)
    assert found.statistic == pytest.approx(labels.statistic)


def test_the_answer_says_what_covariates_explain_and_leave(confounded):
    x, _, z, age = confounded
    sex = np.where(np.arange(150) % 2, "f", "m")
    covariates = pd.DataFrame({"age": age, "sex": sex})
    found = reldep.dependence(x, z, names=("x", "z"), given=covariates)
    assert "given age and sex" in found.sentence()
    assert found.describe().question == "Are x and z related given age and sex, by CKA?"
    for text in (found.summary(), found.to_html()):
        assert "ge and sex explain" in text
        assert "of 150 rows would tell" in text
    facts = found.facts["given"]
    assert facts["explained"]["x"] == pytest.approx(0.5, abs=0.12)
    assert 140 < facts["effective_rows"] < 150
    steps, _, given = drawn("steps")
    terms = reldep.compare(*steps, given=given).provenance.conditioning.terms
    assert terms == ("a step in column 1 within a step in column 2", "a step in column 2")


def test_thresholds_that_act_together_are_taken_out():
    """Both of two covariates high: without joint steps .60 of nulls were rejected."""
    rejected = 0
    for seed in range(12):
        rng = np.random.default_rng([8, seed])
        W, (x, y) = rng.normal(size=(300, 6)), rng.normal(size=(2, 300))
        both = 2.5 * ((W[:, 0] > 0.2) & (W[:, 1] > -0.1))
        found = reldep.dependence(x + both, y + both, given=W, names=("x", "y"))
        rejected += found.pvalue < 0.05
        assert any(" within a step" in term for term in found.provenance.conditioning.terms)
        assert any("Covariates act together" in str(one) for one in found.warnings)
    assert rejected <= 3


def test_rows_are_matched_dropped_and_said(confounded):
    x, _, z, age = confounded
    gappy = age.copy()
    gappy[[3, 7]] = np.nan
    with pytest.raises(ValueError, match="given has missing values"):
        reldep.dependence(x, z, given=gappy)
    found = reldep.dependence(x, z, given=gappy, missing="drop")
    kept = np.delete(np.arange(150), [3, 7])
    whole = reldep.dependence(x[kept], z[kept], given=age[kept])
    assert found.estimate == pytest.approx(whole.estimate, rel=1e-12)
    frame = pd.DataFrame({"x": x, "z": z, "age": age}, index=[f"p{i}" for i in range(150)])
    shuffled = frame["age"].sample(frac=1, random_state=0)
    one, two = (
        reldep.dependence(frame["x"], frame["z"], given=g) for g in (frame["age"], shuffled)
    )
    assert one.estimate == pytest.approx(two.estimate, rel=1e-12)
    ward = np.array(["a", "b", "c"])[np.arange(150) % 3].astype(object)
    ward[[5, 20]] = ["lone 1", "lone 2"]
    lone = reldep.dependence(x, z, given=ward)
    kept = np.delete(np.arange(150), [5, 20])
    without = reldep.dependence(x[kept], z[kept], given=ward[kept])
    assert lone.estimate == pytest.approx(without.estimate, rel=1e-10)
    assert lone.n_observations == 148
    assert "row 5, row 20" in lone.summary()
    assert any("2 rows alone in a category" in str(one) for one in lone.warnings)
    ward = [f"ward {max(i, 60)}" for i in range(150)]
    with pytest.raises(ValueError, match="89 rows of 150 alone in a category"):
        reldep.dependence(x, z, given=ward)


def test_a_sample_of_rows_chooses_nearly_the_same_regression(rng):
    w = rng.normal(size=(400, 2))
    values = {
        name: np.sin(2 * w[:, [0]]) + (w[:, [1]] > 0) + noise
        for name, noise in {"x": rng.normal(size=(400, 1)), "y": rng.normal(size=(400, 1))}.items()
    }
    whole = Regression.of(Covariates(w), values)
    few = Regression.of(Covariates(w, search=Search(rows=300, landmarks=60)), values)
    for name, column in values.items():
        one, two = (r.residuals(column, has_spread=False)[0][:, 0] for r in (whole, few))
        assert np.corrcoef(one, two)[0, 1] > 0.9
        assert few.explained[name] == pytest.approx(whole.explained[name], abs=0.05)


def test_wide_variables_choose_by_their_principal_components(rng):
    w = rng.normal(size=150)
    wide = np.outer(np.exp(w), rng.normal(size=40)) + rng.normal(size=(150, 40))
    y = np.exp(w) + rng.normal(size=150)
    found = reldep.dependence(wide, y, given=w, names=("x", "y"))
    assert found.pvalue > 0.05 > 1e-6 > reldep.dependence(wide, y).pvalue
    assert found.provenance.conditioning.explained["x"] > 0.3
