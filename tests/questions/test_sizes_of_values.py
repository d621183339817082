"""The size of the values does not matter to a normalised measure, whatever is asked."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import reldep
from calls import called
from reldep.kernels import Distance, Gaussian, Linear, Polynomial, Standardized

KERNELS = [Linear(), Polynomial(3, 0.0), Distance(), Distance(1.5), Standardized(Gaussian())]
SIZES = [2.0**-1000, 2.0**-515, 2.0**-130, 2.0**70, 2.0**515, 2.0**1000]


def related(m=40):
    rng = np.random.default_rng(4)
    x = rng.normal(size=m)
    names = "xyzw"
    return {name: x + i * rng.normal(size=m) for i, name in enumerate(names)}


def targets(y):
    """Return many targets on the scale of one variable."""
    rng = np.random.default_rng(5)
    return {f"t{i}": y + i * rng.normal(size=40) * abs(y).max() for i in range(30)}


QUESTIONS = """
compare(x, y, z, **o)
compare(x, y, z, given=w, **o)
compare(x, y, z, clusters=np.arange(40) // 2, **o)
dependence(x, y, **o)
dependence(x, y, test='permutation', n_permutations=49, **o)
rank(x, {'y': y, 'z': z, 'w': w}, n_simulations=400, **o)
rank(x, targets(y), n_simulations=400, **o)
matrix({'x': x, 'y': y, 'z': z, 'w': w}, n_simulations=400, **o)
scan({'x': x, 'w': w}, y, z, n_simulations=400, **o)
groups(x, y, np.arange(40) % 2, n_simulations=400, **o)
""".strip().splitlines()


def numbers(question, data, kernel):
    found = called(question, {"targets": targets, **data, "o": {"kernel": kernel}})
    names = ("estimates", "standard_error", "statistic", "pvalue")
    return np.concatenate([np.ravel(getattr(found, n)) for n in names if hasattr(found, n)])


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("question", QUESTIONS)
def test_normalised_measures_do_not_see_the_unit(question, kernel):
    data = related()
    expected = numbers(question, data, kernel)
    for size in SIZES:
        grown = {name: size * values for name, values in data.items()}
        np.testing.assert_allclose(numbers(question, grown, kernel), expected, rtol=1e-9)


@pytest.mark.parametrize("size", [1e-30, 1e-155, 1e-300])
def test_beside_the_offset_of_a_polynomial_tiny_values_are_as_linear(size):
    data = {name: size * values for name, values in related().items()}
    found, linear = (
        numbers(QUESTIONS[0], values, kernel)
        for values, kernel in ((data, Polynomial(2)), (related(), Linear()))
    )
    np.testing.assert_allclose(found, linear, rtol=1e-9)


PLAIN = {
    "cka": reldep.cka,
    "hsic": reldep.hsic,
    "influence": lambda x, y: reldep.influence({"x": x, "y": y}, [("x", "y")]).values,
    **{
        f"dcor, {engine}": lambda x, y, e=engine: reldep.distance_correlation(x, y, engine=e)
        for engine in ("dense", "tiled", "lines")
    },
}


@pytest.mark.parametrize("function", PLAIN)
@pytest.mark.parametrize("size", [1e-155, 1e155])
def test_a_plain_number_does_not_see_the_unit(size, function):
    x, y = related()["x"], related()["y"]
    expected = PLAIN[function](x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy's too, from the checks of the data
        np.testing.assert_allclose(PLAIN[function](size * x, y), expected, rtol=1e-9)


@pytest.mark.parametrize("engine", ["dense", "tiled"])
def test_a_kernel_to_which_all_but_one_are_alike_has_nothing_to_compare(engine):
    """To a narrow kernel 199 near values are as one, although they differ."""
    data = related()
    near = np.append(1e-12 * data["x"][1:], 1.0)
    with pytest.raises(ValueError, match=r"source varies too little .*HSIC with itself is 0"):
        reldep.compare(near, data["y"], data["z"], kernel=Gaussian(1e-3), engine=engine)


@pytest.mark.parametrize("engine", ["dense", "tiled"])
def test_a_scan_leaves_out_a_source_that_cannot_be_added_up(engine):
    data = related()
    sources = {"fine": data["x"], "huge": 1e300 * data["x"], "tiny": 1e-300 * data["x"]}
    options = {"measure": "hsic", "kernel": "linear", "n_simulations": 400, "engine": engine}
    scan = reldep.scan(sources, data["y"], data["z"], **options)
    assert [name for name, _ in scan.skipped] == ["huge", "tiny"]
    assert {reason for _, reason in scan.skipped} <= {
        "its kernel values are too large or too small to be added up: rescale it",
        "almost no variation: its dependence on anything has no scale",
    }
    with pytest.raises(ValueError, match="kernel values of second and second are too large"):
        reldep.scan(sources, data["y"], 1e200 * data["z"], **options)
