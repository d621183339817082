"""Dependence given covariates: residuals, their U-statistic of order 2, and the questions."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import reldep
from reldep.data.objects import read_variable
from reldep.engine.given.residuals import FeatureResiduals, WholeResiduals
from reldep.engine.given.unexplained import RIDGES, WIDTHS, Covariates, Regression, design
from reldep.kernels import Distance, Gaussian, Laplace, Linear
from reldep.stats.estimates import estimate_dependences

SELVES = [("x", "x"), ("y", "y")]


@pytest.fixture
def confounded(rng):
    """Three variables that follow age; beyond age x and z share something, x and y do not."""
    age = rng.normal(size=150)
    x = age + rng.normal(size=150)
    return x, age + 0.5 * rng.normal(size=150), x + rng.normal(size=150), age


def whole(kernel, values):
    fitted = kernel.fit(read_variable(values, "v"))
    everything = slice(0, len(fitted))
    return fitted, fitted(everything, everything)


def residuals_of(blocks, covariates, kernel=None):
    kernel = kernel or Gaussian()
    fits = {name: kernel.fit(read_variable(data, name)) for name, data in blocks.items()}
    return WholeResiduals.of(fits, Covariates.of(read_variable(covariates, "w")))


def refitted_residuals(points, targets, ridge, widths):
    """Predict every row by a ridge regression on all other rows, with a free constant."""
    fitted, _ = whole(Gaussian(), points)
    m = len(points)
    gram = points @ points.T
    for factor in widths:
        gram = gram + fitted.scaled(factor)(slice(0, m), slice(0, m))
    rows = []
    for i in range(m):
        rest = np.delete(np.arange(m), i)
        # [K + λ, 1; 1', 0] [a; b] = [y; 0]
        system = np.ones((m, m))
        system[:-1, :-1] = gram[np.ix_(rest, rest)] + ridge * np.eye(m - 1)
        system[-1, -1] = 0.0
        solved = np.linalg.solve(system, np.vstack([targets[rest], np.zeros(targets.shape[1])]))
        rows.append(targets[i] - np.r_[gram[i, rest], 1.0] @ solved)
    return np.array(rows)


@pytest.mark.parametrize("several", [False, True])
def test_residuals_are_those_of_regressions_without_each_row(rng, several):
    w = rng.normal(size=(25, 3 if several else 1))
    targets = np.c_[np.sin(2 * w[:, 0]), w.sum(axis=1)] + 0.3 * rng.normal(size=(25, 2))
    covariates = Covariates.of(read_variable(w, "w"))
    points, n_columns = design(read_variable(w, "w"))
    assert n_columns == w.shape[1]
    tried = [
        refitted_residuals(points, targets, 25 * ridge, widths)
        for ridge in RIDGES
        for widths in WIDTHS
    ]
    best = min(tried, key=lambda rows: float((rows**2).sum()))
    regression = covariates.regress(targets @ targets.T)
    np.testing.assert_allclose(
        regression.residuals(targets @ targets.T), best @ best.T, rtol=1e-6, atol=1e-8
    )
    away = (targets - targets.mean(axis=0)) * (25 / 24)
    assert regression.explained == pytest.approx(1 - (best**2).sum() / (away**2).sum(), rel=1e-6)


def test_what_is_added_to_whole_rows_drops_out(rng):
    """So minus a distance, which is a kernel only up to such terms, may be used."""
    w, x = rng.normal(size=(2, 30))
    covariates = Covariates.of(read_variable(w, "w"))
    _, gram = whole(Distance(), x)
    effects = rng.normal(size=30)
    other = gram + effects[:, None] + effects[None, :]
    first, second = covariates.regress(gram), covariates.regress(other)
    np.testing.assert_allclose(first.residuals(gram), second.residuals(other), atol=1e-9)
    assert np.linalg.eigvalsh(first.residuals(gram)).min() > -1e-9


def test_labels_are_held_fixed_as_means_within_categories(rng):
    """With a linear kernel and hardly any penalty, what is left is the deviation from the mean."""
    group = np.repeat(["a", "b", "c"], 20)
    values = np.repeat([0.0, 50.0, -20.0], 20) + rng.normal(size=60)
    covariates = Covariates.of(read_variable(group, "group"))
    assert covariates.n_columns == 2
    regression = covariates.regress(np.outer(values, values))
    means = np.array(
        [(values[group == g].sum() - v) / 19 for g, v in zip(group, values, strict=True)]
    )
    expected = values - means
    np.testing.assert_allclose(
        regression.residuals(np.outer(values, values)), np.outer(expected, expected), atol=0.02
    )


def test_what_two_rows_share_by_the_regression_is_taken_off(rng):
    points, values = rng.normal(size=(30, 2)), rng.normal(size=30)
    regression = Covariates.of(read_variable(points, "w")).regress(np.outer(values, values))
    S = (regression.vectors * regression.shares) @ regression.vectors.T + 1 / 30
    R = (np.eye(30) - S) / (1 - np.diag(S))[:, None]
    gram = np.outer(values, values)
    sizes = (1 - np.diag(S)) * np.diag(R @ gram @ R.T)
    expected = R @ (gram - np.diag(sizes)) @ R.T
    np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(regression.unshared(gram), expected, atol=1e-10)


def test_residuals_of_noise_have_no_product_left_in_the_mean(rng):
    # With the penalty held fixed: two straight lines through the same noise, 4,000 times.
    points = rng.normal(size=(12, 1))
    line = np.column_stack([np.ones(12), points])
    basis = np.linalg.qr(line)[0][:, 1:]
    free = 1 - 1 / 12 - (basis**2).sum(axis=1)
    regression = Regression(basis, np.ones(1), free, 0.5)
    shared, unshared = [], []
    for noise in rng.normal(size=(4_000, 12)):
        gram = np.outer(noise, noise)
        raw = regression.residuals(gram)
        np.fill_diagonal(raw, 0.0)
        shared.append(raw)
        unshared.append(regression.unshared(gram))
    error = np.std(shared, axis=0) / np.sqrt(4_000)
    np.fill_diagonal(error, 1.0)
    assert (np.abs(np.mean(shared, axis=0)) / error).max() > 10
    # Beyond 4.5 standard errors one of 66 pairs lies once in 2,000 times.
    assert (np.abs(np.mean(unshared, axis=0)) / error).max() < 4.5


def matrix_of_residuals(regression):
    n = len(regression.free)
    S = (regression.vectors * regression.shares) @ regression.vectors.T + 1 / n
    return (np.eye(n) - S) / regression.free[:, None]


def test_what_two_regressions_have_in_common_is_that_of_their_matrices(rng):
    w, x, y = rng.normal(size=(3, 40))
    covariates = Covariates.of(read_variable(w, "w"))
    x, y = np.sin(2 * w) + 0.3 * x, w + 0.3 * y
    one, two = (covariates.regress(np.outer(v, v)) for v in (x, y))
    G, H = (R @ R.T for R in map(matrix_of_residuals, (one, two)))
    expected = (G * H).sum() / (np.diag(G) * np.diag(H)).sum()
    assert one.overlap(two) == pytest.approx(expected, rel=1e-10)
    assert expected > 1.05


def test_projections_on_the_same_directions_overlap_by_their_number():
    """Orthogonal columns of 0 and ±1, so that every row has the same leverage."""
    from scipy.linalg import hadamard

    columns = hadamard(16)[:, 1:5] / 4.0
    regression = Regression(columns, np.ones(4), np.full(16, 11 / 16), 0.5)
    assert regression.overlap(regression) == pytest.approx(1 / (1 - 5 / 16), rel=1e-12)


def test_rows_with_the_same_covariates_follow_one_prediction(rng):
    group = np.repeat([0.0, 1.0, 3.0], [5, 20, 15])
    values = (group**2 + rng.normal(size=40))[:, None]
    covariates = Covariates.of(read_variable(group, "w"))
    first = covariates.regress(values @ values.T)
    more = covariates.following(first.predictions(values))
    assert more.bases[: len(covariates.bases)] == covariates.bases
    assert len(more.bases) == 2 * len(covariates.bases)
    # What does not depend on the group cannot be explained: there are three different rows.
    for basis in more.bases:
        assert basis.vectors.shape[1] <= 2


def test_predictions_leave_out_the_row_itself_but_not_from_the_mean(rng):
    w, noise = rng.normal(size=(2, 30))
    values = (w + 0.5 * noise)[:, None]
    covariates = Covariates.of(read_variable(w, "w"))
    first = covariates.regress(values @ values.T)
    found = first.predictions(values)
    again = values.copy()
    again[7] += 0.01
    moved = first.predictions(again) - found
    # All predictions share what the mean of all has moved; nothing else of row 7 is in its own.
    assert moved[7, 0] == pytest.approx(0.01 / 30, rel=0.1)
    nothing = Regression(np.zeros((30, 0)), np.zeros(0), np.full(30, 29 / 30), 0.0)
    assert np.ptp(nothing.predictions(values)) < 1e-12


def test_a_curve_over_many_covariates_is_learned_through_what_they_predict(rng):
    """Two variables that follow one sum of ten covariates and are independent given them."""
    w = rng.normal(size=(150, 10))
    total = w.sum(axis=1) / 3
    blocks = {name: total + 0.5 * rng.normal(size=150) for name in "xy"}
    variables = {name: read_variable(data, name) for name, data in blocks.items()}
    fits = {name: Laplace("mean").fit(variable) for name, variable in variables.items()}
    covariates = Covariates.of(read_variable(w, "w"))
    without, found = (
        WholeResiduals.of(fits, covariates),
        WholeResiduals.of(fits, covariates, variables),
    )
    for name in blocks:
        assert found.regressions[name].explained > 1.5 * without.regressions[name].explained


@pytest.mark.parametrize(
    ("n_columns", "effect"),
    [(2, lambda w: w[:, 0] * w[:, 1]), (10, lambda w: w.sum(axis=1) / 3)],
    ids=["a product", "a sum of ten"],
)
def test_covariates_that_act_together_leave_no_dependence_behind(n_columns, effect):
    """Before predictions were followed 18 and 59 of 60 such samples were rejected.

    At a level of 5% more than 6 of 40 are rejected once in 290 times.
    """
    rejected = 0
    for seed in range(40):
        rng = np.random.default_rng([17, seed])
        w = rng.normal(size=(100, n_columns))
        x, y = (effect(w) + 0.6 * rng.normal(size=100) for _ in range(2))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", reldep.ReldepWarning)
            rejected += reldep.dependence(x, y, given=w).pvalue < 0.05
    assert rejected <= 6


def test_the_jackknife_of_order_2_leaves_out_every_row_exactly(rng):
    w, noise = rng.normal(size=(2, 20))
    blocks = {"x": w + noise, "y": w**2 + noise}
    residuals = residuals_of(blocks, w, Linear())
    influence = residuals.influence([("x", "y"), *SELVES], bandwidths=True)
    found = estimate_dependences(influence, [("x", "y")], "cka", "jackknife")
    K, L = residuals.left["x"], residuals.left["y"]
    for i in range(20):
        rest = np.delete(np.arange(20), i)
        one, two = K[np.ix_(rest, rest)], L[np.ix_(rest, rest)]
        expected = (one * two).sum() / np.sqrt((one**2).sum() * (two**2).sum())
        assert found.without(np.array([i]))[0] == pytest.approx(expected, rel=1e-10)
    assert influence.psi[0] == pytest.approx(
        2 * ((K * L).sum(axis=1) / 19 - (K * L).sum() / 380), rel=1e-12
    )


def test_bandwidths_are_followed_as_by_finite_differences(rng):
    w, noise = rng.normal(size=(2, 40))
    blocks = {"x": w + noise, "y": w**2 + noise}
    residuals = residuals_of(blocks, w)
    added = residuals.influence([("x", "y")], bandwidths=True).bandwidth_psi[0]

    def theta(factors):
        everything = slice(0, 40)
        scaled = {
            name: residuals.regressions[name].unshared(
                residuals.kernels[name].scaled(factors[name])(everything, everything)
            )
            for name in blocks
        }
        product = scaled["x"] * scaled["y"]
        return (product.sum() - np.trace(product)) / (40 * 39)

    expected = np.zeros(40)
    for name in blocks:
        width = residuals.kernels[name].bandwidths()[0]
        up, down = (theta({"x": 1.0, "y": 1.0, name: f}) for f in (1 + 1e-5, 1 - 1e-5))
        score = width.score(slice(0, 40), slice(0, 40))
        np.fill_diagonal(score, 0.0)
        expected += (up - down) / 2e-5 * width.leverage(score.sum(axis=1) / 39)
    np.testing.assert_allclose(added, expected, rtol=1e-5, atol=1e-10)


@pytest.mark.parametrize("measure", ["cka", "hsic", "dcor"])
def test_covariates_of_no_effect_leave_the_marginal_answer(rng, measure):
    x = rng.normal(size=300)
    y, z = x + 0.5 * rng.normal(size=300), x + 2 * rng.normal(size=300)
    plain = reldep.compare(x, y, z, measure=measure)
    given = reldep.compare(x, y, z, measure=measure, given=rng.normal(size=300))
    assert max(given.provenance.conditioning.explained.values()) < 0.02
    assert given.estimate == pytest.approx(plain.estimate, rel=0.05)
    assert given.standard_error == pytest.approx(plain.standard_error, rel=0.05)


@pytest.mark.parametrize("measure", ["cka", "hsic", "dcor"])
def test_covariates_turn_the_answer_around(confounded, measure):
    x, y, z, age = confounded
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", reldep.ReldepWarning)
        beyond = reldep.compare(x, y, z, measure=measure, given=age, alternative="less")
    assert beyond.pvalue < 1e-4
    assert reldep.dependence(x, y, measure=measure).pvalue < 1e-4
    assert reldep.dependence(x, y, measure=measure, given=age).pvalue > 0.05
    assert reldep.dependence(x, z, measure=measure, given=age).pvalue < 1e-4


def test_all_questions_agree(confounded):
    x, y, z, age = confounded
    data = {"x": x, "y": y, "z": z}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", reldep.ReldepWarning)
        compared = reldep.compare(x, y, z, given=age)
        weighted = reldep.contrast(data, {("x", "y"): 1, ("x", "z"): -1}, given=age)
        ranked = reldep.rank(x, {"y": y, "z": z}, given=age)
        cells = reldep.matrix(data, given=age)
    single = reldep.dependence(x, z, given=age)
    assert weighted.pvalue == pytest.approx(compared.pvalue, rel=1e-10)
    assert ranked.best == ("z",)
    assert ranked.estimates == pytest.approx(compared.estimates, rel=1e-12)
    assert single.estimate == pytest.approx(compared.estimates[1], rel=1e-12)
    assert cells.estimates[:2] == pytest.approx(compared.estimates, rel=1e-12)


def test_the_answer_names_the_covariates_and_what_they_explain(confounded):
    x, _, z, age = confounded
    sex = np.where(np.arange(150) % 2, "f", "m")
    covariates = pd.DataFrame({"age": age, "sex": sex})
    found = reldep.dependence(x, z, names=("x", "z"), given=covariates)
    assert "given age and sex" in found.sentence()
    assert found.describe().question == "Are x and z related given age and sex, by CKA?"
    assert "age and sex explain" in found.summary()
    assert "age and sex explain" in found.to_html()
    assert found.facts["given"]["explained"]["x"] == pytest.approx(0.5, abs=0.12)
    assert "given=given" in found.provenance.call
    alone = reldep.dependence(x, z, names=("x", "z"), given=covariates["age"])
    assert "age explains" in alone.summary()
    unnamed = reldep.dependence(x, z, names=("x", "z"), given=age)
    assert "The covariate explains" in unnamed.summary()


def test_rows_without_covariates_are_dropped_or_refused(confounded):
    x, _, z, age = confounded
    gappy = age.copy()
    gappy[[3, 7]] = np.nan
    with pytest.raises(ValueError, match="given has missing values"):
        reldep.dependence(x, z, given=gappy)
    found = reldep.dependence(x, z, given=gappy, missing="drop")
    kept = np.delete(np.arange(150), [3, 7])
    whole_rows = reldep.dependence(x[kept], z[kept], given=age[kept])
    assert found.estimate == pytest.approx(whole_rows.estimate, rel=1e-12)


def test_covariates_are_matched_by_index(confounded):
    x, _, z, age = confounded
    names = [f"p{i}" for i in range(150)]
    frame = pd.DataFrame({"x": x, "z": z, "age": age}, index=names)
    plain = reldep.dependence(frame["x"], frame["z"], given=frame["age"])
    shuffled = reldep.dependence(
        frame["x"], frame["z"], given=frame["age"].sample(frac=1, random_state=0)
    )
    assert shuffled.estimate == pytest.approx(plain.estimate, rel=1e-12)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"clusters": np.arange(150) // 5}, "cannot be combined with `clusters`"),
        ({"max_lag": 2}, "cannot be combined with `max_lag`"),
        ({"engine": "lines"}, "use `engine='auto'`"),
    ],
)
def test_what_cannot_be_had_given_covariates_has_a_way_out(confounded, options, words):
    x, y, z, age = confounded
    with pytest.raises(ValueError, match=words):
        reldep.compare(x, y, z, given=age, **options)


@pytest.mark.parametrize("question", ["groups", "scan", "sensitivity"])
def test_questions_without_covariates_say_what_to_ask_instead(confounded, question):
    x, y, z, age = confounded
    blocks = {"groups": (x, y, z > 0), "scan": (np.c_[x, z], y, age)}.get(question, (x, y, z))
    words = rf"{question}\(\) holds no covariates fixed: it does not take `given`.* given=\.\.\."
    with pytest.raises(TypeError, match=words):
        getattr(reldep, question)(*blocks, given=age)


def test_covariates_that_determine_a_variable_are_refused_by_its_name(confounded):
    x, y, z, age = confounded
    for given in (x, -(x**3), np.c_[age, x]):
        with pytest.raises(ValueError, match=r"^age at birth is among the columns of `given`"):
            reldep.compare(x, y, z, given=given, names=("age at birth", "y", "z"))
    with pytest.raises(ValueError, match=r"^wave is determined by the covariate"):
        reldep.compare(np.cos(age), y, z, given=age, names=("wave", "y", "z"))
    region = np.array(list("abcdef"))[np.arange(150) % 6]
    part = np.where(np.isin(region, ["a", "b"]), "north", "south")
    with pytest.raises(ValueError, match=r"^part is determined"):
        reldep.compare(part, y, z, given=region, names=("part", "y", "z"))


def test_bad_covariates_have_their_sentences(confounded):
    x, y, z, age = confounded
    with pytest.raises(ValueError, match="given has 9"):
        reldep.compare(x, y, z, given=age[:9])
    with pytest.raises(ValueError, match="given is constant"):
        reldep.compare(x, y, z, given=np.ones(150))
    with pytest.raises(TypeError, match="pass the columns themselves"):
        reldep.compare(x, y, z, given="age")
    with pytest.raises(TypeError, match="columns of numbers or of labels"):
        reldep.compare(x, y, z, given=[{i} for i in range(150)])
    with pytest.raises(ValueError, match="use `test='chi-square'`"):
        reldep.dependence(x, y, given=age, test="permutation")


def test_labels_that_no_two_rows_share_are_refused(confounded):
    x, y, z, age = confounded
    names = [f"person {i}" for i in range(150)]
    with pytest.raises(ValueError, match=r"`given` has a label of its own in every row"):
        reldep.compare(x, y, z, given=names)
    with pytest.raises(ValueError, match=r"name of `given` has a label of its own in every row"):
        reldep.compare(x, y, z, given=pd.DataFrame({"age": age, "name": names}))


def test_an_influence_given_covariates_keeps_its_order(confounded):
    x, _, z, age = confounded
    found = reldep.dependence(x, z, names=("x", "z"), given=age)
    again = reldep.contrast(found.influence, {("x", "z"): 1})
    assert again.standard_error == pytest.approx(found.standard_error, rel=1e-12)
    assert again.provenance.conditioning is found.influence.conditioning
    with pytest.raises(ValueError, match="leave `clusters` out"):
        reldep.contrast(found.influence, {("x", "z"): 1}, clusters=np.arange(150) // 5)
    with pytest.raises(ValueError, match="pass data in place of the Influence"):
        reldep.contrast(found.influence, {("x", "z"): 1}, given=age)


def test_a_kernel_matrix_may_be_what_depends(confounded):
    x, _, z, age = confounded
    matrix = reldep.kernels.Precomputed(np.outer(x, x))
    found = reldep.dependence(matrix, z, given=age, kernel={"y": "linear"}, names=("x", "y"))
    direct = reldep.dependence(x, z, given=age, kernel="linear", names=("x", "y"))
    assert found.estimate == pytest.approx(direct.estimate, rel=1e-10)
    # One column's linear kernel has the share of the column itself.
    shares = [one.provenance.conditioning.explained["x"] for one in (found, direct)]
    assert shares[0] == pytest.approx(shares[1], rel=1e-8)
    # The numbers of the rows are not the values of the matrix.
    assert reldep.dependence(matrix, z, given=np.arange(150.0)).pvalue < 1


def test_the_command_line_holds_columns_fixed(tmp_path, confounded):
    from reldep.questions.request import Request

    x, y, z, age = confounded
    sex = np.where(np.arange(150) % 2, "f", "m")
    frame = pd.DataFrame({"x": x, "y": y, "z": z, "age": age, "sex": sex})
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    request = Request.from_words(
        question="compare",
        files=(str(path),),
        words={"source": "x", "first": "y", "second": "z", "given": "age,sex"},
    )
    assert "--given age,sex" in request.command()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", reldep.ReldepWarning)
        answer, curve = request.run_over_bandwidths()
        direct = reldep.compare(x, y, z, given=frame[["age", "sex"]])
    assert curve is None
    assert answer.pvalue == pytest.approx(direct.pvalue, rel=1e-8)
    assert "given age and sex" in answer.sentence()


# Many rows, by features.


def by_features(blocks, covariates, kernel):
    """Regress on features of the covariates, as is done for many rows."""
    fits = {name: kernel.fit(read_variable(data, name)) for name, data in blocks.items()}
    return FeatureResiduals.of(fits, covariates)


def test_features_give_the_residuals_of_whole_matrices(rng, monkeypatch):
    w, u, e = rng.normal(size=(3, 200))
    blocks = {"x": np.cos(2 * w) + u, "y": w + u + e}
    dense = residuals_of(blocks, w, Linear())
    monkeypatch.setattr("reldep.engine.given.unexplained.DENSE_UP_TO", 50)
    covariates = Covariates.of(read_variable(w, "w"))
    pairs = [("x", "y"), ("x", "x")]
    # The penalty is found on some of the rows: it is given here.
    monkeypatch.setattr(
        Covariates, "regress_features", lambda own, features: _of_gram(dense, features)
    )
    found = by_features(blocks, covariates, Linear())
    for name in blocks:
        whole = found.left[name].block(slice(0, 200))
        np.testing.assert_allclose(whole, dense.left[name], atol=1e-9)
    np.testing.assert_allclose(
        found.influence(pairs).values, dense.influence(pairs).values, rtol=1e-9
    )
    assert found.null_scale(pairs[0]) == pytest.approx(dense.null_scale(pairs[0]), rel=1e-9)


def _of_gram(dense, features):
    return dense.covariates.regress(features @ features.T)


@pytest.mark.parametrize("measure", ["cka", "dcor"])
def test_many_rows_have_nearly_the_answer_of_whole_matrices(rng, monkeypatch, measure):
    w = rng.normal(size=(400, 2))
    u, e = rng.normal(size=(2, 400))
    x = w[:, 0] ** 2 + u
    y, z = np.cos(2 * w[:, 0]) + w[:, 1] + u + e, w[:, 0] + 0.5 * e
    whole = reldep.compare(x, y, z, given=w, measure=measure)
    monkeypatch.setattr("reldep.engine.given.unexplained.DENSE_UP_TO", 300)
    found = reldep.compare(x, y, z, given=w, measure=measure)
    assert "400 observations: kernels are approximated by 250" in found.provenance.notes[0]
    assert found.provenance.engine == "features"
    asked = reldep.compare(x, y, z, given=w, measure=measure, engine="dense")
    assert asked.estimate == whole.estimate
    assert found.estimate == pytest.approx(whole.estimate, rel=0.05)
    assert found.standard_error == pytest.approx(whole.standard_error, rel=0.1)
    shares = [one.provenance.conditioning.explained for one in (found, whole)]
    for name, share in shares[0].items():
        assert share == pytest.approx(shares[1][name], abs=0.02)


def test_rare_values_of_many_rows_are_not_missed(rng, monkeypatch):
    monkeypatch.setattr("reldep.engine.given.unexplained.DENSE_UP_TO", 500)
    w, u = rng.normal(size=(2, 1_000))
    rare = np.zeros(1_000)
    rare[rng.choice(1_000, 8, replace=False)] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = reldep.dependence(rare, 3 * rare + u, given=w)
        whole = reldep.dependence(rare, 3 * rare + u, given=w, engine="dense")
    # Eight rows decide, and the features smooth the kernel of the other variable a little.
    assert found.estimate == pytest.approx(whole.estimate, rel=0.25)
    assert found.pvalue < 0.05


def test_more_rows_than_features_have_room_for_are_refused(monkeypatch):
    monkeypatch.setattr("reldep.engine.given.residuals.MOST_ROWS", 100)
    x, y, w = np.random.default_rng(0).normal(size=(3, 101))
    with pytest.raises(ValueError, match=r"takes up to 100 observations.*there are 101"):
        reldep.dependence(x, y, given=w)
