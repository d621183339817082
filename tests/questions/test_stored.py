"""Rows beyond memory give the answer of blocks in memory, from disk and by workers."""

from __future__ import annotations

import itertools
import tempfile
import threading
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reldep
from reldep.engine import Blocks
from reldep.exceptions import InputError, ReldepWarning
from reldep.kernels import Delta, Distance, Laplace, Text

N = 4_000
# Columns of so few bytes stay in memory; nothing of these tests does.
ON_DISK = Blocks(memory=20_000)
KERNELS = {"x": Laplace(1.0), "y": Laplace(1.5), "z": Laplace(2.0), "group": Delta()}


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReldepWarning)
        yield


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(8)
    x = rng.normal(size=N)
    y, z = x + rng.normal(size=N), x + 2 * rng.normal(size=N)
    group = np.where(np.arange(N) % 997 == 0, "rare", np.where(y > 0, "high", "low"))
    words = rng.choice(["oak", "elm", "ash", "fir", "yew", "box"], (N, 3))
    text = [" ".join(row) for row in words]
    return pl.DataFrame({"x": x, "y": y, "z": z, "group": group, "text": text})


@pytest.fixture(scope="module")
def folder(rows, tmp_path_factory):
    """A sorted table in files of unequal size, one of them empty."""
    folder = tmp_path_factory.mktemp("stored")
    for i, (start, stop) in enumerate(itertools.pairwise((0, 900, 900, 2_500, N))):
        rows.sort("y")[start:stop].write_parquet(folder / f"{i}.parquet", row_group_size=300)
    return folder


QUESTIONS = {
    "compare": lambda **o: reldep.compare("x", "y", "z", **o),
    "labels": lambda **o: reldep.compare("x", "group", "two=y,z", **o),
    "contrast": lambda **o: reldep.contrast("x,y,z", {("x", "y"): 1, ("y", "z"): -2}, **o),
    "rank": lambda **o: reldep.rank("x", "y,z,group", **o),
    "dependence": lambda **o: reldep.dependence("group", "z", **o),
    "matrix": lambda **o: reldep.matrix("x,y,group", **o),
}


@pytest.mark.parametrize("measure", ["cka", "hsic"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_rows_from_disk_give_the_answer_of_blocks_in_memory(question, measure, rows, folder):
    ask = QUESTIONS[question]
    own = {name: kernel for name, kernel in KERNELS.items() if question != "labels"}
    kernel = (Laplace(1.0), Delta(), Laplace(2.0)) if question == "labels" else own
    names = {"rank": "xyz", "matrix": "xy", "compare": "xyz", "contrast": "xyz", "dependence": "z"}
    if question in names:
        kernel = {name: own[name] for name in names[question]}
        kernel |= {"group": Delta()} if question in ("rank", "matrix", "dependence") else {}
    options = {"kernel": kernel, "measure": measure}
    found = ask(data=folder, engine=ON_DISK, **options)
    expected = ask(data=rows.sort("y"), engine=Blocks(), **options)
    assert found.n_observations == expected.n_observations == N
    assert found.provenance.engine == "blocks"
    one, two = (answer.to_frame() for answer in (found, expected))
    assert one.columns == two.columns
    for name in one.columns:
        if one[name].dtype.is_float():
            np.testing.assert_allclose(one[name], two[name], rtol=1e-8, atol=1e-12)
        else:
            assert one[name].to_list() == two[name].to_list()


@pytest.mark.parametrize(("spare", "is_dealt"), [(0, False), (-1, True)])
def test_columns_are_dealt_to_disk_only_if_they_need_more_memory_than_there_is(
    spare, is_dealt, folder
):
    table, dealt = reldep.read(folder), []

    def slices(names, size):
        dealt.append(names)
        return table.slices(names, size)

    engine = Blocks(memory=8 * 3 * N + spare)
    watched = replace(table, slices=slices)
    found = reldep.compare("x", "y", "z", data=watched, engine=engine, kernel=Laplace(1.0))
    expected = reldep.compare("x", "y", "z", data=folder, engine=Blocks(), kernel=Laplace(1.0))
    assert bool(dealt) == is_dealt
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-8)


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


def test_conditions_and_incomplete_rows_hold_for_all_rows(rows, tmp_path):
    gaps = rows.with_columns(
        y=pl.when(pl.int_range(pl.len()) % 40 == 0).then(None).otherwise(pl.col("y"))
    )
    gaps.write_parquet(tmp_path / "gaps.parquet")
    table = reldep.read(tmp_path / "gaps.parquet", where="x > -1")
    options = {"kernel": Laplace(1.0), "engine": ON_DISK}
    with pytest.raises(InputError, match="y has missing values"):
        reldep.compare("x", "y", "z", data=table, **options)
    found = reldep.compare("x", "y", "z", data=table, missing="drop", **options)
    left = gaps.filter(pl.col("x") > -1)
    assert found.n_observations == left["y"].count()
    assert found.provenance.n_dropped == left.height - left["y"].count()


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda **o: reldep.groups("x", "y", "group", **o), r"groups\(\) needs its columns"),
        (lambda **o: reldep.sensitivity("x", "y", "z", **o), r"sensitivity\(\) needs"),
        (lambda **o: reldep.compare("x", "y", "z", clusters="group", **o), "`clusters` needs"),
        (lambda **o: reldep.compare("x", "y", "z", max_lag=3, **o), "`max_lag` needs"),
        (lambda **o: reldep.compare("x", "y", "z", given="group", **o), "`given` needs"),
        (lambda **o: reldep.compare("x", "y", "z", variance="fixed-kernel", **o), "`variance="),
    ],
)
def test_what_needs_all_rows_in_memory_is_refused_by_name(ask, words, folder):
    with pytest.raises(InputError, match=words):
        ask(data=folder, engine=ON_DISK)


def test_nothing_is_left_on_disk(folder, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    reldep.compare("x", "y", "z", data=folder, engine=ON_DISK, kernel=Laplace(1.0))
    assert list(Path(tmp_path).iterdir()) == []


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with distributed.LocalCluster(**options) as made, distributed.Client(made):
            yield made


def test_workers_give_the_same_numbers_even_if_one_is_killed(rows, cluster):
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(rows.sort("y").drop("text").to_pandas(), npartitions=6, sort=False)
    options = {"data": frame, "engine": Blocks(), "kernel": {"x": Laplace(1.0), "y": Laplace(1.0)}}

    def ask():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return reldep.compare("x", "y", "group", **options)

    expected = ask()
    assert expected.n_observations == N
    in_memory = reldep.compare("x", "y", "group", **options | {"data": rows, "engine": "tiled"})
    assert expected.estimate == pytest.approx(in_memory.estimate, abs=2 * in_memory.standard_error)
    worker = next(iter(cluster.workers.values()))
    killer = threading.Timer(0.3, worker.process.process.kill)
    killer.start()
    deadline = time.monotonic() + 60
    found = ask()
    while killer.is_alive() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert found.estimate == expected.estimate
    assert found.standard_error == expected.standard_error


def test_partitions_that_change_between_passes_are_refused(rows, cluster):
    dd = pytest.importorskip("dask.dataframe")

    def drawn(part):
        return part.assign(x=np.random.default_rng().normal(size=len(part)))

    frame = dd.from_pandas(rows.drop("text").to_pandas(), npartitions=2).map_partitions(drawn)
    with pytest.raises(InputError, match="two passes over the partitions give other values"):
        reldep.compare("x", "y", "z", data=frame, engine=Blocks(), kernel=Laplace(1.0))
