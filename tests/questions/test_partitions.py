"""Several Parquet files and Dask frames are one table, with the answers of one data frame."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import polars as pl
import pytest

import reldep
from reldep.exceptions import InputError, ReldepWarning
from reldep.kernels import Gaussian

N = 1_800


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReldepWarning)
        yield


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    x = rng.normal(size=N)
    y, z = x + rng.normal(size=N), x + 1.3 * rng.normal(size=N)
    group = np.where(x + rng.normal(size=N) > 1, "high", np.where(y > 0, "mid", "low"))
    count = rng.poisson(np.exp(0.5 * x))
    return pl.DataFrame({"x": x, "y": y, "z": z, "w": z + x**2, "group": group, "count": count})


def write(folder, frame, cuts=(0, 700, 1_500, None)):
    folder.mkdir(exist_ok=True)
    for i, (start, stop) in enumerate(itertools.pairwise(cuts)):
        frame[start : stop or len(frame)].write_parquet(folder / f"part-{i}.parquet")
    return str(folder / "*.parquet")


@pytest.fixture
def files(tmp_path, rows):
    return write(tmp_path / "pieces", rows)


def same(found, expected, tolerance=1e-9):
    assert found.estimate == pytest.approx(expected.estimate, rel=tolerance)
    assert found.standard_error == pytest.approx(expected.standard_error, rel=tolerance)
    assert found.statistic == pytest.approx(expected.statistic, rel=tolerance)
    near = max(1e-6, 10 * tolerance)
    assert found.df == pytest.approx(expected.df, rel=near)
    assert found.n_observations == expected.n_observations
    limits = expected.confidence_interval()
    np.testing.assert_allclose(found.confidence_interval(), limits, rtol=near)
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=near)


def test_contrast_dependence_and_rank_are_answered_too(files, rows):
    kernel = Gaussian(1.0)
    weights = {("x", "y"): 1.0, ("x", "z"): -0.5, ("x", "w"): -0.5}
    options = {"kernel": kernel, "data": files}
    same(
        reldep.contrast("x,y,z,w", weights, **options),
        reldep.contrast("x,y,z,w", weights, data=rows, kernel=kernel),
    )
    one = reldep.dependence("x", "y", **options)
    expected = reldep.dependence("x", "y", data=rows, kernel=kernel)
    assert one.pvalue == pytest.approx(expected.pvalue, rel=1e-6)
    assert one.sample_size() == expected.sample_size()
    np.testing.assert_allclose(one.confidence_interval(), expected.confidence_interval(), rtol=1e-7)
    ranking = reldep.rank("x", "y,z,w", **options)
    other = reldep.rank("x", "y,z,w", data=rows, kernel=kernel)
    assert ranking.best == other.best
    np.testing.assert_allclose(
        ranking.comparisons.score, other.comparisons.score, rtol=1e-4, atol=1e-6
    )


def test_conditions_and_missing_values_leave_rows_out(tmp_path, rows):
    place = pl.int_range(pl.len())
    gaps = rows.with_columns(
        y=pl.when(place % 50 == 0).then(None).otherwise(pl.col("y")),
        z=pl.when(place % 70 == 0).then(float("nan")).otherwise(pl.col("z")),
    )
    files = write(tmp_path / "gaps", gaps)
    with pytest.raises(InputError, match=r"y has missing values: 36"):
        reldep.compare("x", "y", "z", data=files, kernel=Gaussian(1.0))
    options = {"kernel": Gaussian(1.0), "missing": "drop"}
    whole, parts = (reldep.read(data, where="group != 'low'") for data in (gaps, files))
    found = reldep.compare("x", "y", "z", data=parts, **options)
    same(found, reldep.compare("x", "y", "z", data=whole, **options))
    assert found.provenance.n_dropped > 0


def test_a_label_that_only_the_last_file_has_counts(tmp_path, rows):
    last = rows.with_columns(
        pl.when(pl.int_range(pl.len()) >= 1_700)
        .then(pl.lit("new"))
        .otherwise(pl.col("group"))
        .alias("group")
    )
    files = write(tmp_path / "last", last)
    options = {"kernel": (Gaussian(1.0), "delta", Gaussian(1.0))}
    same(
        reldep.compare("x", "group", "y", data=files, **options),
        reldep.compare("x", "group", "y", data=last, **options),
    )


def test_order_of_columns_types_of_numbers_and_empty_files_do_not_matter(tmp_path, rows):
    folder = tmp_path / "odd"
    folder.mkdir()
    rows[:700].write_parquet(folder / "b.parquet")
    rows[700:700].write_parquet(folder / "c-empty.parquet")
    turned = rows[700:].select(reversed(rows.columns))
    turned.with_columns(pl.col("count").cast(pl.Float32)).write_parquet(folder / "a.parquet")
    options = {"kernel": (Gaussian(1.0), Gaussian(1.0), "delta")}
    found = reldep.compare("x", "y", "count", data=folder, **options)
    same(found, reldep.compare("x", "y", "count", data=rows, **options))


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("y", None, "has no column 'y'"),
        ("y", pl.col("y").cast(pl.String), "has values of the type String"),
        ("y", pl.lit("2020-01-01").str.to_date(), "has values of the type Date"),
    ],
)
def test_files_that_do_not_fit_together_are_named(tmp_path, rows, column, value, words):
    folder = tmp_path / "unlike"
    folder.mkdir()
    rows[:700].write_parquet(folder / "one.parquet")
    other = rows[700:].drop(column) if value is None else rows[700:].with_columns(value.alias("y"))
    other.write_parquet(folder / "two.parquet")
    with pytest.raises(InputError, match=words) as caught:
        reldep.compare("x", "y", "z", data=folder, kernel=Gaussian(1.0))
    assert "two.parquet" in str(caught.value)


def test_a_kernel_for_numbers_is_refused_for_labels(files):
    with pytest.raises(TypeError, match="kernel Gaussian cannot be used for group"):
        reldep.compare("x", "y", "group", data=files, kernel="gaussian")


@pytest.mark.parametrize(
    "options", [{}, {"measure": "hsic", "variance": "fixed-kernel"}, {"measure": "dcor"}]
)
@pytest.mark.parametrize("names", [("x", "y", "z"), ("x", "y,w", "group"), ("group", "x", "count")])
def test_pieces_give_the_answer_of_one_frame(files, rows, names, options):
    found = reldep.compare(*names, data=files, **options)
    same(found, reldep.compare(*names, data=rows, **options))


def test_partitions_of_dask_give_the_answer_of_one_frame(rows):
    dd = pytest.importorskip("dask.dataframe")
    frame = rows.to_pandas()
    found = reldep.compare("x", "y", "group", data=dd.from_pandas(frame, npartitions=3))
    same(found, reldep.compare("x", "y", "group", data=frame))
