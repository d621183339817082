"""Errors are part of the interface: each names the argument, the value and the way out."""

from __future__ import annotations

import numpy as np
import pytest

import reldep
from cautioned import cautioned
from reldep.exceptions import (
    BandwidthWarning,
    FewUnitsWarning,
    InputError,
    InputTypeError,
    ReldepWarning,
)
from reldep.kernels import Delta, Distance, Gaussian, Linear, Polynomial, Precomputed, Product

M = 40
RNG = np.random.default_rng(1)
X = RNG.normal(size=(M, 2))
Y = X + RNG.normal(size=(M, 2))
Z = RNG.normal(size=M) + X[:, 0]
SEX = np.array(["f", "m"])[RNG.integers(0, 2, M)]


def holed(*rows):
    broken = X.copy()
    broken[list(rows), 1] = np.nan
    return broken


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: reldep.compare(X, Y[:30], Z),
            ValueError,
            "different numbers of observations: source has 40, first has 30, second has 40",
        ),
        (
            lambda: reldep.compare(X[:3], Y[:3], Z[:3]),
            ValueError,
            "only 3 observations; the unbiased HSIC needs at least 4",
        ),
        (
            lambda: reldep.compare(holed(2, 7), Y, Z),
            ValueError,
            r"source has missing values: 2 NaN in rows 2, 7.*pass `missing='drop'`",
        ),
        (
            lambda: reldep.compare(X, Y, np.where(np.arange(M) == 5, np.inf, Z)),
            ValueError,
            "second has missing values: 1 infinite in row 5",
        ),
        (
            lambda: reldep.compare([None, *SEX[1:]], Y, Z),
            ValueError,
            "source has missing values: 1 missing value in row 0",
        ),
        (
            lambda: reldep.compare(holed(*range(38)), Y, Z, missing="drop"),
            ValueError,
            "only 2 observations are left after dropping 38 incomplete ones",
        ),
        (lambda: reldep.compare([], Y, Z), ValueError, "source has no observations"),
        (
            lambda: reldep.compare([{1}] * M, Y, Z),
            TypeError,
            "source contains objects of type set, which are neither numbers nor labels",
        ),
        (
            lambda: reldep.compare(np.ones(M), Y, Z),
            ValueError,
            "source is constant: all 40 observations are the same",
        ),
        (
            lambda: reldep.compare(X, ["a"] * M, Z),
            ValueError,
            "first is constant",
        ),
        (
            lambda: reldep.compare(X, Y, [f"id{i}" for i in range(M)]),
            ValueError,
            "second has a label of its own in each of 40 observations: no two agree",
        ),
        (
            lambda: Precomputed(np.zeros((3, 4))),
            ValueError,
            r"matrix has shape \(3, 4\); a precomputed kernel is square",
        ),
        (
            lambda: Precomputed(np.arange(9.0).reshape(3, 3)),
            ValueError,
            r"matrix is not symmetric \(largest \|K - K'\| is 4\)",
        ),
        (
            lambda: Precomputed(np.full((3, 3), np.nan)),
            ValueError,
            "matrix has 9 values that are NaN",
        ),
        (lambda: Precomputed(np.array([["a"]])), TypeError, "pass real numbers"),
        (
            lambda: reldep.compare(X, Y, Z, kernel=(Precomputed(np.eye(5)), "auto", "auto")),
            ValueError,
            "precomputed matrix for source has 5 rows but there are 40",
        ),
        (
            lambda: reldep.compare(Precomputed(np.eye(M)), Y, Z),
            ValueError,
            "constant off its diagonal",
        ),
        (
            lambda: reldep.compare(X, Y, Z, kernel="gausian"),
            ValueError,
            r"`kernel='gausian'` is not known \(did you mean 'gaussian'\?\)",
        ),
        (
            lambda: reldep.compare(X, Y, Z, measure="ckaa"),
            ValueError,
            r"`measure='ckaa'` is not known \(did you mean 'cka'\?\)",
        ),
        (lambda: reldep.compare(X, Y, Z, measure=3), TypeError, "`measure` is of type int"),
        (
            lambda: reldep.compare(X, Y, Z, alternative="more"),
            ValueError,
            "`alternative='more'` is not known; pass one of 'two-sided', 'greater', 'less'",
        ),
        (lambda: reldep.paper_test(X, Y, Z, method="joined"), ValueError, "did you mean 'joint'"),
        (lambda: reldep.compare(X, Y, Z, variance="fixed"), ValueError, "'fixed-kernel'"),
        (lambda: reldep.compare(X, Y, Z, missing="skip"), ValueError, "missing='skip'"),
        (lambda: reldep.compare(X, Y, Z, engine="dens"), ValueError, "did you mean 'dense'"),
        (lambda: reldep.compare(X, Y, Z, engine=3), TypeError, "`engine` is of type int"),
        (
            lambda: reldep.compare(X, Y, Z, kernel=("auto", "auto")),
            ValueError,
            "kernel is a tuple of 2 for 3 variables",
        ),
        (
            lambda: reldep.compare(X, Y, Z, kernel={"sauce": "auto"}),
            ValueError,
            r"kernel names 'sauce', which is not a variable \(did you mean 'source'\?\)",
        ),
        (lambda: reldep.compare(X, Y, Z, kernel=Gaussian), TypeError, r"pass Gaussian\(\)"),
        (lambda: reldep.compare(X, Y, Z, kernel=3), TypeError, "kernel for source is of type int"),
        (
            lambda: reldep.compare(X, Y, SEX, kernel="gaussian"),
            TypeError,
            "kernel Gaussian cannot be used for second, which contains labels",
        ),
        (
            lambda: reldep.compare(X, Y, Z, kernel=lambda a, b: np.zeros(3)),
            ValueError,
            r"kernel function for source returned shape \(3,\)",
        ),
        (
            lambda: reldep.compare(X, Y, Z, kernel=lambda a, b: np.full((len(a), len(b)), np.nan)),
            ValueError,
            "returned NaN or infinite values",
        ),
        (
            lambda: reldep.compare(X, Y, Y),
            ValueError,
            "the estimated variance of the contrast of source ~ first, source ~ second is 0",
        ),
        (lambda: reldep.compare(X, Y, 2 * Y + 1), ValueError, "There is nothing to test"),
        (
            lambda: reldep.compare(X, Y, Z, measure="dcor", kernel="gaussian"),
            ValueError,
            "`measure='dcor'` is defined by distances",
        ),
        (
            lambda: reldep.compare(X, Y, Z, names=("a", "b")),
            ValueError,
            "pass 3 different names",
        ),
        (lambda: reldep.compare(X, Y, Z, names=("a", "b", "b")), ValueError, "different names"),
        (
            lambda: reldep.compare(X, Y, Z, max_lag=40),
            ValueError,
            "`max_lag=40` does not fit 40 observations",
        ),
        (lambda: reldep.compare(X, Y, Z, max_lag=-1), ValueError, "from 0 to 39"),
        (lambda: reldep.compare(X, Y, Z, max_lag=1.5), ValueError, "whole number"),
        (lambda: reldep.compare(X, Y, Z, clusters=[1, 2]), ValueError, "2 entries for 40"),
        (lambda: reldep.compare(X, Y, Z, clusters=[1] * M), ValueError, "a single cluster"),
        (
            lambda: reldep.compare(X, Y, Z, clusters=[None, *range(39)]),
            ValueError,
            "give every row a cluster",
        ),
        (
            lambda: reldep.paper_test(X[:7], Y[:7], Z[:7], method="split"),
            ValueError,
            "`method='split'` needs at least 10 observations, 7 given",
        ),
        (
            lambda: reldep.contrast({"x": X, "y": Y}, {("x", "q"): 1}),
            ValueError,
            "weights names 'q', which is not a variable",
        ),
        (
            lambda: reldep.contrast({"x": X, "y": Y}, {("x", "y"): 0}),
            ValueError,
            "weights are all 0",
        ),
        (
            lambda: reldep.contrast({"x": X, "y": Y}, {("x", "y"): 1, ("y", "x"): -1}),
            ValueError,
            "weights are all 0",
        ),
        (
            lambda: reldep.contrast({"x": X}, [1, 2]),
            TypeError,
            "weights is of type list; pass a mapping",
        ),
        (lambda: reldep.contrast({"x": X}, {}), TypeError, "weights is empty; pass a mapping"),
        (lambda: reldep.contrast({"x": X}, {"xx": 1}), TypeError, "keys are pairs of names"),
        (
            lambda: reldep.contrast({"x": X, "y": Y}, {("x", "y"): np.inf}),
            ValueError,
            "NaN or infinite",
        ),
        (lambda: reldep.influence({"x": X}, []), ValueError, "`pairs` is empty"),
        (lambda: reldep.influence({"x": X}, [("x", "w")]), ValueError, "pairs names 'w'"),
        (lambda: reldep.rotation([[1]]), ValueError, r"weights has shape \(1, 1\)"),
        (lambda: reldep.rotation([0, 0]), ValueError, "all 0"),
        (lambda: Gaussian(0), ValueError, "bandwidth=0"),
        (lambda: Gaussian("mode"), ValueError, "`bandwidth='mode'` is not known"),
        (lambda: Gaussian([1]), TypeError, "bandwidth is of type list"),
        (lambda: Gaussian(True), TypeError, "bandwidth is of type bool"),
        (lambda: Gaussian(factor=-1), ValueError, "factor=-1"),
        (lambda: Distance(3), ValueError, "exponent=3"),
        (lambda: Polynomial(0), ValueError, "degree=0"),
        (lambda: Polynomial(1.5), TypeError, "degree=1.5"),
        (lambda: Polynomial(offset=-1), ValueError, "offset=-1"),
        (lambda: Gaussian(10**400), ValueError, "bandwidth=1000"),
        (lambda: Gaussian(factor=10**400), ValueError, "factor=1000"),
        (lambda: Polynomial(101), ValueError, "`degree=101`; pass a whole number from 1 to 100"),
        (lambda: Polynomial(scale=10**400), ValueError, "scale=1000"),
        (
            lambda: reldep.dependence(X, Y, n_permutations=10**400),
            ValueError,
            "n_permutations=1000",
        ),
        (lambda: reldep.dependence(X, Y).power(10**400), ValueError, "n=1000"),
        (lambda: reldep.dependence(X, Y).confidence_interval(10**400), ValueError, "level=1000"),
        (lambda: reldep.rotation([10**400, 1]), ValueError, "weights"),
        (lambda: Product((Gaussian(),)), TypeError, "at least two kernels"),
        (lambda: reldep.finite_sample_bound(0), ValueError, "n=0"),
        (lambda: reldep.finite_sample_bound(10**400), ValueError, "n=1000"),
        (lambda: reldep.finite_sample_bound(9, constant=10**400), ValueError, "constant=1000"),
        (lambda: reldep.finite_sample_bound(9, 2), ValueError, "delta=2"),
        (lambda: reldep.finite_sample_bound(9, constant=-1), ValueError, "constant=-1"),
    ],
)
def test_bad_input_says_what_and_how_to_go_on(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_columns_with_missing_values_are_named():
    import polars as pl

    frame = pl.DataFrame({"age": [None, *range(M - 1)], "sex": SEX, "job": [*SEX[1:], None]})
    with pytest.raises(ValueError, match=r"1 NaN in row 0 \(columns age\); 'job': 1 missing"):
        reldep.compare(frame, Y, Z)


def test_mixed_frames_refuse_kernels_for_one_kind_of_column():
    import polars as pl

    frame = pl.DataFrame({"age": Z, "sex": SEX})
    labels_only = pl.DataFrame({"sex": SEX, "job": SEX[::-1]})
    with pytest.raises(
        TypeError, match=r"numeric columns next to its labels.*Gaussian\(\) \* Delta"
    ):
        reldep.hsic(frame, Y, kernel=(Delta(), "auto"))
    with pytest.raises(ValueError, match="made for the label columns"):
        reldep.hsic(frame, Y, kernel=(Gaussian() * Linear(), "auto"))
    with pytest.raises(TypeError, match="no columns that kernel Gaussian is made for"):
        reldep.hsic(labels_only, Y, kernel=(Gaussian() * Delta(), "auto"))


@pytest.mark.parametrize("method", ["confidence_interval", "power", "sample_size"])
def test_levels_outside_the_unit_interval_are_refused(method):
    result = reldep.compare(X, Y, Z)
    arguments = {
        "confidence_interval": {"confidence_level": 95},
        "power": {"n": 100, "alpha": 0},
        "sample_size": {"power": 1.0},
    }[method]
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        getattr(result, method)(**arguments)


def test_power_needs_a_number_of_observations():
    result = reldep.compare(X, Y, Z)
    with pytest.raises(InputError, match="`n=3`; pass a whole number, at least 4"):
        result.power(3)
    for wrong in ("many", None, [50], True):
        with pytest.raises(InputTypeError, match=r"`n=.*`; pass a whole number, at least 4"):
            result.power(wrong)


def test_a_variable_without_energy_has_no_normalised_measure():
    lone = np.array(["a", "a", "a", "b"])
    kernel = Precomputed((lone[:, None] == lone).astype(float))
    with pytest.raises(
        ValueError, match=r"x varies too little for its dependence on anything to have a scale"
    ):
        reldep.cka(kernel, Z[:4])


def test_few_observations_are_cautioned():
    with cautioned(FewUnitsWarning, match="approximate for 12 rows") as caught:
        result = reldep.compare(X[:12], Y[:12], Z[:12])
    assert [w.message.__cause__ for w in caught] == list(result.warnings)
    assert all(isinstance(w, ReldepWarning) for w in result.warnings)
    assert f"Caution: {result.warnings[0]}" in result.summary()


def test_many_ties_take_the_median_of_the_other_distances():
    tied = np.r_[np.zeros(32), np.arange(8.0)]
    distances = np.abs(tied[:, None] - tied)[np.triu_indices(M, 1)]
    with cautioned(BandwidthWarning, match="distances in 'source' are 0"):
        result = reldep.compare(tied, Y, Z, kernel="gaussian")
    fitted = result.provenance.kernels["source"]
    assert fitted["bandwidth"] == np.median(distances[distances > 0])
    assert fitted["rule"] == "median of the non-zero distances"


ONE = np.where(np.arange(30) == 4, 2.0, 1.0)


@pytest.mark.parametrize(
    "lone", [ONE, ONE.astype(int), np.where(ONE > 1, "ill", "well"), np.column_stack([ONE, ONE])]
)
def test_a_variable_of_which_one_row_varies_is_refused_and_that_row_named(rng, lone):
    x, y = rng.normal(size=(2, 30))
    for ask in (
        lambda: reldep.compare(x, y, lone, names=("x", "y", "rare")),
        lambda: reldep.compare(lone, x, y, names=("rare", "x", "y")),
        lambda: reldep.rank(x, {"y": y, "rare": lone}),
        lambda: reldep.matrix({"x": x, "y": y, "rare": lone}),
        lambda: reldep.dependence(x, lone, names=("x", "rare")),
    ):
        with pytest.raises(
            ValueError, match=r"all observations but one are the same in rare \(row 4"
        ):
            ask()


def test_numbers_are_not_taken_for_the_labels_that_they_code(rng):
    sex = np.array(["f", "m"])[rng.integers(2, size=40)]
    for coded in (sex == "m", sex == "f"):
        # Whichever label comes first, it is a caution and no error.
        answer = reldep.compare(coded.astype(float), sex, rng.normal(size=40))
        assert any("in two units or words" in str(caution) for caution in answer.warnings)


@pytest.mark.parametrize("na", [-999, "-999", [-999, 10**400], ("-999", -1), np.float64(-999)])
def test_codes_for_missing_values_are_taken_out_of_data_in_memory(rng, na):
    x, y, z = rng.normal(size=(3, 40)) + 10
    x[3] = -999
    table = reldep.read({"x": x, "y": y, "z": z}, na=na)
    with pytest.raises(ValueError, match=r"missing values: 1 .* in row 3"):
        reldep.compare("x", "y", "z", data=table)
    answer = reldep.compare("x", "y", "z", data=table, missing="drop")
    assert answer.n_observations == 39
    assert "-999" not in " ".join(map(str, answer.warnings))


def test_codes_for_missing_values_reach_scans_and_files(rng, tmp_path):
    x, y, z = rng.normal(size=(3, 40)) + 10
    x[3] = -999
    table = reldep.read({"x": x, "w": z, "y": y, "v": z + y}, na=-999)
    scanned = reldep.scan("x,w", "y", "v", data=table, missing="drop")
    alone = reldep.compare(np.delete(x, 3), np.delete(y, 3), np.delete(z + y, 3))
    assert scanned.to_frame()["pvalue"][0] == pytest.approx(alone.pvalue, rel=1e-9)
    file = tmp_path / "study.csv"
    rows = "\n".join(f"{'n.d.' if i == 3 else x[i]},{y[i]},{z[i]}" for i in range(40))
    file.write_text(f"x,y,z\n{rows}\n")
    answer = reldep.compare("x", "y", "z", data=reldep.read(file, na="n.d."), missing="drop")
    assert answer.n_observations == 39


@pytest.mark.parametrize("na", [[None], {"a": 1}, 3j])
def test_codes_that_are_none_are_refused(na):
    with pytest.raises(InputTypeError, match="pass a number, a string, or a list of these"):
        reldep.read({"x": [1, 2]}, na=na)
