"""Files, partitions and rows beyond memory are one table, with the answers of one data frame."""

from __future__ import annotations

import itertools
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reldep
from calls import called
from reldep.engine import Blocks
from reldep.exceptions import InputError
from reldep.kernels import Delta, Distance, Gaussian, Laplace, Linear, Text

N = 2_400
# Columns of so few bytes stay in memory; nothing of the tests beyond memory does.
ON_DISK = Blocks(memory=20_000)
WIDE = {"kernel": Laplace(1.0)}


@pytest.fixture(scope="module")
def rows():
    """A table sorted by y, with clusters of unequal sizes that are spread over it."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=N)
    y, z = x + rng.normal(size=N), x + 1.5 * rng.normal(size=N)
    words = rng.choice(["oak", "elm", "ash", "fir", "yew", "box"], (N, 3))
    columns = {
        "x": x,
        "y": y,
        "z": z,
        "w": z + x**2,
        "group": np.where(x + rng.normal(size=N) > 1, "high", np.where(y > 0, "mid", "low")),
        "count": rng.poisson(np.exp(0.5 * x)),
        "text": [" ".join(row) for row in words],
        "site": [f"s{i}" for i in (120 * rng.random(N) ** 2).astype(int)],
    }
    return pl.DataFrame(columns).sort("y")


def write(folder, frame, cuts=(0, 500, 500, 1_500, None)):
    """Write files of unequal size, one of them empty."""
    folder.mkdir(exist_ok=True)
    for i, (start, stop) in enumerate(itertools.pairwise(cuts)):
        rows = frame[start : len(frame) if stop is None else stop]
        rows.write_parquet(folder / f"{i}.parquet", row_group_size=300)
    return folder


@pytest.fixture(scope="module")
def folder(rows, tmp_path_factory):
    return write(tmp_path_factory.mktemp("stored"), rows)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with distributed.LocalCluster(**options) as made, distributed.Client(made):
            yield made


def partitioned(rows, n=6):
    dd = pytest.importorskip("dask.dataframe")
    return dd.from_pandas(rows.drop("text").to_pandas(), npartitions=n, sort=False)


def same(found, expected, tolerance=1e-8):
    """Check that two answers have the same tables, up to rounding."""
    assert found.n_observations == expected.n_observations
    one, two = (pl.DataFrame(answer.to_frame()) for answer in (found, expected))
    assert one.columns == two.columns
    for name in one.columns:
        if one[name].dtype.is_float():
            np.testing.assert_allclose(one[name], two[name], rtol=tolerance, atol=1e-12)
        else:
            assert one[name].to_list() == two[name].to_list()


KERNELS = {"group": Delta(), "x": Laplace(1.0), "y": Laplace(1.5), "z": Laplace(2.0)}
OF_TARGETS = {name: Laplace(1.0) for name in "xyzw"}
OF_SCAN = OF_TARGETS | {"count": Gaussian(2.0)}
MIXED = (Laplace(1.0), Gaussian(1.0), Delta())


def of(names):
    return {name: KERNELS[name] for name in names}


CASES = """
compare('x', 'y', 'z', kernel=of('xyz'), **o)
compare('x', 'y', 'group', measure='hsic', kernel=of('xy'), **o)
compare('x', 'a=y,w', 'group', kernel=MIXED, **o)
compare('x', 'y', 'z', names=['z', 'x', 'y'], **WIDE, **o)
contrast('x,y,z', {('x', 'y'): 1, ('y', 'z'): -2}, kernel=of('xyz'), **o)
rank('x', 'y,z,group', kernel=KERNELS, **o)
dependence('group', 'z', kernel=of(['z', 'group']), **o)
matrix('x,y,group', kernel=of(['x', 'y', 'group']), **o)
sensitivity('x', 'y', 'group', factors=[0.5, 1, 2], kernel=of('xy'), **o)
scan('x,w,group,count', 'y', 'z', kernel=OF_SCAN, **o)
scan('x', 'y,z,w,group', kernel=OF_TARGETS, **o)
""".strip().splitlines()
# The blocks of these rows are decided by labels or by their order, on a cluster too.
DEALT = """
groups('x', 'z', 'group', **WIDE, **o)
groups('x', 'z', 'group', measure='hsic', **WIDE, **o)
compare('x', 'y', 'z', clusters='site', **WIDE, **o)
rank('x', 'y,z,w', clusters='site', **WIDE, **o)
matrix('x,y,z', clusters='site', **WIDE, **o)
dependence('x', 'z', clusters='site', **WIDE, **o)
compare('x', 'y', 'z', max_lag=5, **WIDE, **o)
dependence('x', 'z', max_lag='auto', **WIDE, **o)
sensitivity('x', 'y', 'z', max_lag=5, factors=[0.5, 2], **WIDE, **o)
""".strip().splitlines()


def asked(call, **options):
    return called(call, {**globals(), "o": options})


@pytest.mark.parametrize("call", [*CASES, *DEALT])
def test_rows_from_disk_give_the_answer_of_blocks_in_memory(call, rows, folder):
    found = asked(call, data=folder, engine=ON_DISK)
    assert found.provenance.engine == "blocks"
    same(found, asked(call, data=rows, engine=Blocks()))


@pytest.mark.parametrize("call", DEALT)
def test_workers_give_the_answer_of_blocks_in_memory(call, rows, cluster):
    found = asked(call, data=partitioned(rows), engine=Blocks())
    same(found, asked(call, data=rows, engine=Blocks()))


def test_workers_scan_columns(rows, cluster):
    found = reldep.scan("x,w", "y", "z", data=partitioned(rows), engine=Blocks(), **WIDE)
    expected = reldep.scan("x,w", "y", "z", data=rows, **WIDE)
    assert found.n_observations == N
    one, two = (pl.DataFrame(answer.to_frame()) for answer in (found, expected))
    assert (one["estimate"] - two["estimate"]).abs().max() < 3 * one["standard_error"].min()


def test_workers_give_the_same_numbers_even_if_one_is_killed(rows, cluster):
    options = {"data": partitioned(rows), "engine": Blocks(), "kernel": of("xy")}

    def ask():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return reldep.compare("x", "y", "group", **options)

    expected = ask()
    assert expected.n_observations == N
    in_memory = reldep.compare("x", "y", "group", **options | {"data": rows, "engine": "tiled"})
    assert expected.estimate == pytest.approx(in_memory.estimate, abs=2 * in_memory.standard_error)
    worker = next(iter(cluster.workers.values()))
    killer = threading.Timer(0.1, os.kill, [worker.pid, signal.SIGKILL])
    killer.start()
    found = ask()
    killer.join(timeout=60)
    assert found.estimate == expected.estimate
    assert found.standard_error == expected.standard_error


def test_partitions_that_change_between_passes_are_refused(rows, cluster):
    def drawn(part):
        return part.assign(x=np.random.default_rng().normal(size=len(part)))

    frame = partitioned(rows, 2).map_partitions(drawn)
    with pytest.raises(InputError, match="two passes over the partitions give other values"):
        reldep.compare("x", "y", "z", data=frame, engine=Blocks(), **WIDE)


@pytest.mark.parametrize(("spare", "is_dealt"), [(0, False), (-1, True)])
def test_columns_are_dealt_to_disk_only_if_they_need_more_memory_than_there_is(
    spare, is_dealt, folder
):
    table, dealt = reldep.read(folder), []

    def source(names, size):
        dealt.extend([] if size is None else names)
        return table.source(names, size)

    engine = Blocks(memory=8 * 3 * N + spare)
    watched = replace(table, source=source)
    found = reldep.compare("x", "y", "z", data=watched, engine=engine, **WIDE)
    same(found, reldep.compare("x", "y", "z", data=folder, engine=Blocks(), **WIDE))
    assert bool(dealt) == is_dealt


def test_bandwidths_are_fixed_by_random_rows_and_named(rows, folder):
    found = reldep.compare("x", "y", "z", data=folder, engine=ON_DISK)
    expected = reldep.compare("x", "y", "z", data=rows)
    for name in "xyz":
        width = found.provenance.kernels[name]["bandwidth"]
        assert width == pytest.approx(expected.provenance.kernels[name]["bandwidth"], rel=0.02)
    assert found.estimate == pytest.approx(expected.estimate, abs=3 * expected.standard_error)
    again = reldep.compare("x", "y", "z", data=folder, engine=ON_DISK)
    assert again.pvalue == found.pvalue


@pytest.mark.parametrize("kernel", [(Laplace(1.0), Text(), Distance()), "auto"])
def test_every_kernel_takes_rows_from_disk(kernel, rows, folder):
    target = "text" if kernel != "auto" else "group"
    found = reldep.compare("x", target, "z", data=folder, engine=ON_DISK, kernel=kernel)
    expected = reldep.compare("x", target, "z", data=rows, kernel=kernel)
    error = np.hypot(found.standard_error, expected.standard_error)
    assert abs(found.estimate - expected.estimate) < 2 * error


@pytest.mark.parametrize("kernel", [Linear(), Distance()])
@pytest.mark.parametrize("unit", [1e-120, 1e120])
def test_the_unit_of_a_column_is_frozen_with_its_kernel(kernel, unit, rows, tmp_path):
    frame = rows.with_columns(pl.col("x") * unit, pl.col("y") / unit)
    options = {"data": write(tmp_path, frame), "engine": ON_DISK, "kernel": kernel}
    expected = reldep.compare("x", "y", "z", **options | {"data": rows, "engine": Blocks()})
    same(reldep.compare("x", "y", "z", **options), expected)


def test_conditions_and_incomplete_rows_hold_for_all_rows(rows, tmp_path):
    place = pl.int_range(pl.len())
    gaps = rows.with_columns(
        y=pl.when(place % 50 == 0).then(None).otherwise(pl.col("y")),
        z=pl.when(place % 70 == 0).then(float("nan")).otherwise(pl.col("z")),
    )
    folder = write(tmp_path / "gaps", gaps)
    whole, parts = (reldep.read(data, where="group != 'low'") for data in (gaps, folder))
    for engine in (Blocks(), ON_DISK):
        options = {"data": parts, "engine": engine, **WIDE}
        with pytest.raises(InputError, match=r"y has missing values: .* in rows ") as caught:
            reldep.compare("x", "y", "z", **options)
        assert int(re.search(r"in rows (\d+)", str(caught.value))[1]) % 50 == 0
        found = reldep.compare("x", "y", "z", missing="drop", **options)
        expected = reldep.compare("x", "y", "z", missing="drop", **options | {"data": whole})
        assert found.n_observations == expected.n_observations
        assert found.provenance.n_dropped == expected.provenance.n_dropped > 0
        assert found.estimate == pytest.approx(expected.estimate, abs=3 * expected.standard_error)


REFUSED = """
paper_test('x', 'y', 'z', **o) -> paper_test() needs its columns
compare('x', 'y', 'z', variance='fixed-kernel', **o) -> `variance=
dependence('x', 'y', test='permutation', **o) -> `test='permutation'`
compare('x', 'y', 'z', clusters=['site', 'group'], **o) -> `clusters` of two columns needs
scan('x,w', 'y', 'z', missing='drop', **o) -> `missing='drop'` of scan() needs
compare('x', 'y', 'z', given='w', **o) -> `given` needs
groups('x', 'y', 'site', **o) -> the group 's55' with 12 of 2,400
compare('x', 'y', 'z', clusters='group', **o) -> at least 20 clusters
""".strip().splitlines()


@pytest.mark.parametrize("line", REFUSED)
def test_what_needs_all_rows_in_memory_is_refused_by_name(line, folder):
    call, words = line.split(" -> ")
    with pytest.raises(InputError, match=re.escape(words)):
        asked(call, data=folder, engine=ON_DISK)


def test_slow_series_on_disk_have_the_degrees_of_freedom_of_those_in_memory(rows, tmp_path):
    slow = rows.with_columns(pl.col("x", "z").cum_sum())
    folder = write(tmp_path, slow)
    found = [
        reldep.compare("x", "y", "z", data=data, max_lag="auto", engine=engine, kernel="linear")
        for data, engine in ((folder, ON_DISK), (slow, Blocks()), (slow, "auto"))
    ]
    disk, blocks, dense = (one.df for one in found)
    # Memory beyond that of 2,400 rows: far fewer degrees of freedom than 40 runs have.
    assert disk == blocks == dense < 5
    assert all("move so slowly" in " ".join(map(str, one.warnings)) for one in found)


def test_rows_out_of_the_order_of_time_are_refused(rows, tmp_path):
    day = pl.date_range(pl.date(2000, 1, 1), pl.date(2030, 1, 1), eager=True)[:N]
    dated = rows.with_columns(day=day.shuffle(seed=1))
    with pytest.raises(InputError, match="'day' is not in order"):
        reldep.compare("x", "y", "z", data=write(tmp_path, dated), max_lag=3, engine=ON_DISK)


@pytest.mark.parametrize("argument", ["clusters", "by"])
def test_rows_without_a_label_are_refused_or_dropped(argument, rows, tmp_path):
    gap = rows.with_columns(
        site=pl.when(pl.int_range(pl.len()) == N - 1).then(None).otherwise(pl.col("group"))
    )
    names = ["x", "y"] if argument == "by" else ["x", "y", "z"]
    ask = reldep.groups if argument == "by" else reldep.compare
    options = {"data": write(tmp_path, gap), "engine": ON_DISK, argument: "site"}
    with pytest.raises(InputError, match=f"`{argument}` has missing values in 1 rows"):
        ask(*names, **options)
    if argument == "by":
        left = ask(*names, **options, missing="drop")
        assert (left.n_observations, left.provenance.n_dropped) == (N - 1, 1)
        assert "clusters" not in left.summary()


INTERRUPTED_JOB = """
import sys, time
import numpy as np, polars as pl, reldep
from reldep.engine import Blocks
n_calls = 0
def kernel(a, b):
    global n_calls
    n_calls += 1
    if n_calls >= 500:  # about a hundred blocks; threads may count past it
        print("now\\n", end="", flush=True)  # in one piece: several threads may come by
    time.sleep(0.005)
    return np.exp(-np.abs(a - b.T))
data = pl.read_parquet(sys.argv[1]) if sys.argv[2] == "memory" else sys.argv[1]
engine = Blocks(size=8, memory=20_000 if sys.argv[2] == "disk" else None)
print(reldep.compare("x", "y", "z", data=data, kernel=kernel, engine=engine).summary())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("where", ["memory", "disk"])
def test_ctrl_c_after_fifty_blocks_prints_the_answer_of_the_blocks_done(where, folder):
    import pty

    ours, theirs = pty.openpty()  # the bar is only shown on a terminal
    command = [sys.executable, "-W", "ignore", "-c", INTERRUPTED_JOB, f"{folder}", where]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=theirs, env=environment, text=True
    ) as job:
        os.close(theirs)
        assert job.stdout.readline() == "now\n"
        job.send_signal(signal.SIGINT)
        written, _ = job.communicate(timeout=60)
    os.close(ours)
    assert job.returncode == 0
    done = re.search(
        r"Interrupted after (\d+) of 300 blocks: the answer is that of ([\d,]+)", written
    )
    assert 50 <= int(done[1]) < 300
    assert int(done[2].replace(",", "")) == 8 * int(done[1])


def test_nothing_is_left_on_disk(folder, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    reldep.compare("x", "y", "z", data=folder, engine=ON_DISK, **WIDE)
    assert list(Path(tmp_path).iterdir()) == []


# In memory: several files and partitions are one table.


@pytest.mark.parametrize(
    "options", [{}, {"measure": "hsic", "variance": "fixed-kernel"}, {"measure": "dcor"}]
)
@pytest.mark.parametrize("names", [("x", "y", "z"), ("x", "y,w", "group"), ("group", "x", "count")])
@pytest.mark.parametrize("pieces", ["files", "partitions", "a label in the last file"])
def test_pieces_give_the_answer_of_one_frame(folder, rows, names, options, pieces, tmp_path):
    if pieces == "a label in the last file":
        last = pl.when(pl.int_range(pl.len()) >= 2_300).then(pl.lit("new")).otherwise("group")
        rows = rows.with_columns(group=last)
        folder = write(tmp_path, rows)
    data = partitioned(rows, 3) if pieces == "partitions" else folder
    same(reldep.compare(*names, data=data, **options), reldep.compare(*names, data=rows, **options))


def test_order_of_columns_types_of_numbers_and_empty_files_do_not_matter(tmp_path, rows):
    write(tmp_path, rows, (0, 700, 700))
    turned = rows[700:].select(reversed(rows.columns))
    turned.with_columns(pl.col("count").cast(pl.Float32)).write_parquet(tmp_path / "9.parquet")
    for engine in ("auto", ON_DISK):
        options = {"kernel": (Gaussian(1.0), Gaussian(1.0), "delta")}
        found = reldep.compare("x", "y", "count", data=tmp_path, engine=engine, **options)
        held = "auto" if engine == "auto" else Blocks()
        same(found, reldep.compare("x", "y", "count", data=rows, engine=held, **options))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "has no column 'y'"),
        (pl.col("y").cast(pl.String), "has values of the type String"),
        (pl.lit("2020-01-01").str.to_date(), "has values of the type Date"),
    ],
)
def test_files_that_do_not_fit_together_are_named(tmp_path, rows, value, words):
    rows[:700].write_parquet(tmp_path / "one.parquet")
    other = rows[700:].drop("y") if value is None else rows[700:].with_columns(value.alias("y"))
    other.write_parquet(tmp_path / "two.parquet")
    with pytest.raises(InputError, match=words) as caught:
        reldep.compare("x", "y", "z", data=tmp_path, kernel=Gaussian(1.0))
    assert "two.parquet" in str(caught.value)
