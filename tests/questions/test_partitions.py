"""Data in pieces: the answers of one data frame, in bounded memory, and nothing by mistake."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import polars as pl
import pytest

import reldep
from reldep.engine import LowRank
from reldep.exceptions import InputError, ReldepWarning
from reldep.files.partitions import open_partitions
from reldep.kernels import Gaussian, Gaussians, Laplace

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


@pytest.mark.parametrize(
    ("kernel", "measure", "variance"),
    [
        (Gaussian(bandwidth="mean"), "cka", "jackknife"),
        (Gaussian(bandwidth="mean"), "hsic", "bandwidth-aware"),
        (Gaussians(bandwidth=1.0), "hsic", "jackknife"),
        ("linear", "cka", "fixed-kernel"),
    ],
    ids=["mean", "aware", "given", "linear"],
)
def test_pieces_give_the_numbers_of_one_frame(files, rows, kernel, measure, variance):
    options = {"kernel": kernel, "measure": measure, "variance": variance}
    found = reldep.compare("x", "y", "z", data=files, **options)
    # The bandwidth by all rows of a column comes out of bins.
    near = 1e-7 if kernel == Gaussian(bandwidth="mean") else 1e-9
    same(found, reldep.compare("x", "y", "z", data=rows, engine=LowRank(), **options), near)


def test_labels_numbers_and_counts_can_be_mixed(files, rows):
    kernel = (Gaussian(1.0), "delta", Laplace(2.0))
    found = reldep.compare("x", "group", "count", data=files, kernel=kernel)
    same(found, reldep.compare("x", "group", "count", data=rows, kernel=kernel))


def test_blocks_of_two_columns_have_a_bandwidth_from_the_sample(files, rows):
    # All rows are in the sample here, so that the noise of sampling is that of all rows.
    kernel = Gaussian(bandwidth="mean")
    found = reldep.compare("a=x,w", "y", "z", data=files, kernel=kernel)
    same(found, reldep.compare("a=x,w", "y", "z", data=rows, kernel=kernel), 1e-5)


def test_the_median_of_a_column_is_found_to_a_bin(files, rows):
    found = reldep.compare("x", "y", "z", data=files, kernel="gaussian")
    expected = reldep.compare("x", "y", "z", data=rows, kernel="gaussian")
    assert found.estimate == pytest.approx(expected.estimate, rel=1e-5)
    assert found.standard_error == pytest.approx(expected.standard_error, rel=2e-3)


def test_the_default_kernel_says_that_it_is_another(files):
    found = reldep.compare("x", "y", "z", data=files)
    assert any("Gaussian kernels at several scales" in one for one in found.provenance.notes)
    assert found.provenance.kernels["x"]["kernel"].startswith("Gaussians")
    assert found.provenance.engine == "lowrank, in pieces"


def test_the_certificate_bounds_every_hsic(files, rows):
    found = reldep.compare("x", "y", "z", data=files, kernel=Gaussian(1.0), measure="hsic")
    exact = reldep.compare(
        "x", "y", "z", data=rows, kernel=Gaussian(1.0), measure="hsic", engine="tiled"
    )
    certificate = found.influence.certificate
    one_machine = reldep.compare(
        "x", "y", "z", data=rows, kernel=Gaussian(1.0), measure="hsic", engine=LowRank()
    ).influence.certificate
    for pair, value in zip(found.pairs, exact.estimates, strict=True):
        assert abs(found.influence.hsic(pair) - value) <= certificate.hsic(pair) + 1e-15
        # The same bounds as with all rows at hand, up to the choice of pivots.
        assert certificate.hsic(pair) < 100 * one_machine.hsic(pair)
        assert certificate.standard_error(pair, N) < 100 * one_machine.standard_error(pair, N)


def test_contrast_dependence_and_rank_are_answered_too(files, rows):
    kernel = Gaussian(1.0)
    weights = {("x", "y"): 1.0, ("x", "z"): -0.5, ("x", "w"): -0.5}
    options = {"kernel": kernel, "data": files}
    same(
        reldep.contrast("x,y,z,w", weights, **options),
        reldep.contrast("x,y,z,w", weights, data=rows, kernel=kernel, engine=LowRank()),
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


def test_the_report_does_without_rows(files, tmp_path):
    found = reldep.compare("x", "y", "z", data=files, kernel=Gaussian(1.0))
    found.to_html(tmp_path / "report.html")
    assert "Most influential" not in (tmp_path / "report.html").read_text()
    with pytest.raises(InputError, match="not kept of data in partitions"):
        found.influential()


def test_conditions_and_missing_values_leave_rows_out(tmp_path, rows):
    place = pl.int_range(pl.len())
    gaps = rows.with_columns(
        y=pl.when(place % 50 == 0).then(None).otherwise(pl.col("y")),
        z=pl.when(place % 70 == 0).then(float("nan")).otherwise(pl.col("z")),
    )
    files = write(tmp_path / "gaps", gaps)
    with pytest.raises(InputError, match=r"y has missing values in 36 of 1,800 rows"):
        reldep.compare("x", "y", "z", data=files, kernel=Gaussian(1.0))
    options = {"kernel": Gaussian(1.0), "missing": "drop", "where": "group != 'low'"}
    found = reldep.compare("x", "y", "z", data=files, **options)
    same(found, reldep.compare("x", "y", "z", data=gaps, **options))
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


def test_a_constant_piece_is_no_constant_column(tmp_path, rows):
    frame = rows.with_columns(
        pl.when(pl.int_range(pl.len()) < 700).then(0.0).otherwise(pl.col("y")).alias("y")
    )
    files = write(tmp_path / "constant", frame)
    options = {"kernel": Gaussian(1.0)}
    same(
        reldep.compare("x", "y", "z", data=files, **options),
        reldep.compare("x", "y", "z", data=frame, **options),
    )
    flat = write(tmp_path / "flat", frame[:700], (0, 300, 700))
    with pytest.raises(InputError, match="y has the same value in every row"):
        reldep.compare("x", "y", "z", data=flat, **options)


def test_pieces_sorted_by_a_variable_give_the_same_numbers(tmp_path, rows):
    ordered = rows.sort("x")
    files = write(tmp_path / "sorted", ordered)
    options = {"kernel": Gaussian(0.5)}
    same(
        reldep.compare("x", "y", "z", data=files, **options),
        reldep.compare("x", "y", "z", data=rows, **options),
    )


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("y", None, "has no column 'y'"),
        ("y", pl.col("y").cast(pl.String), r"holds values of the type String"),
        ("y", pl.lit("2020-01-01").str.to_date(), "holds values of the type Date"),
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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"measure": "dcor"}, "measure='dcor' needs the distances between all rows"),
        ({"variance": "full"}, "variance='full' is not possible in partitions"),
        ({"engine": "tiled"}, "engine='tiled' cannot work on data in partitions"),
        ({"clusters": "group"}, "clusters= needs all rows in one place"),
        ({"max_lag": 3}, "max_lag= needs all rows in one place"),
        ({"method": "split"}, "takes the rows apart"),
        ({"kernel": Laplace()}, "needs more than 1,000 features"),
        ({"kernel": "cosine"}, "needs all rows in one place"),
        ({"where": "x > 100"}, "no row of .* satisfies the condition"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_needs_all_rows_is_refused_with_a_way_out(files, options, words):
    with pytest.raises(InputError, match=words):
        reldep.compare("x", "y", "z", data=files, **options)


def test_other_questions_name_those_that_can_be_asked(files):
    with pytest.raises(InputError, match="Ask by compare, paper_test, contrast, dependence or"):
        reldep.matrix("x,y,z", data=files)


def test_what_is_read_in_pieces(tmp_path, rows, files):
    folder = tmp_path / "pieces"
    assert len(open_partitions(files, 10**9).pieces) == 3
    assert len(open_partitions(folder, 10**9).pieces) == 3
    single = folder / "part-0.parquet"
    assert open_partitions(single, 10**12) is None
    assert len(open_partitions(single, 10).pieces) == 1
    assert open_partitions(rows, 10**9) is None
    (folder / "part-9.csv").write_text("x,y\n1,2\n")
    with pytest.raises(InputError, match="not all of them are Parquet"):
        open_partitions(str(folder / "part*"), 10**9)
    with pytest.raises(FileNotFoundError, match="no Parquet files"):
        open_partitions(str(folder / "nothing*.parquet"), 10**9)


def test_whole_numbers_beyond_doubles_stay_different_labels(tmp_path):
    rng = np.random.default_rng(0)
    codes = 2**60 + rng.integers(0, 3, 400)
    frame = pl.DataFrame({"x": rng.normal(size=400) + (codes - 2**60), "c": codes})
    frame = frame.with_columns(y=frame["x"] + rng.normal(size=400))
    files = write(tmp_path / "big", frame, (0, 200, None))
    kernel = (Gaussian(1.0), Gaussian(1.0), "delta")
    found = reldep.compare("x", "y", "c", data=files, kernel=kernel)
    words = frame.with_columns(pl.col("c").cast(pl.String).cast(pl.Categorical))
    same(found, reldep.compare("x", "y", "c", data=words, kernel=kernel))


def test_a_kernel_for_numbers_is_refused_for_labels(files):
    with pytest.raises(TypeError, match="kernel Gaussian cannot be used for group"):
        reldep.compare("x", "y", "group", data=files, kernel="gaussian")
