"""Dask data frames: the numbers of one machine on a cluster."""

from __future__ import annotations

import gc
import os
import signal
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import reldep
from reldep.engine import DaskEngine, LowRank
from reldep.engine.pieces.workers import DaskPieces
from reldep.exceptions import InputError, ReldepWarning
from reldep.kernels import Gaussian

distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

KERNEL = (Gaussian(1.0), Gaussian(1.0), "delta")


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
    gc.collect()


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(8)
    x = rng.normal(size=1_500)
    y = x + rng.normal(size=1_500)
    group = np.where(x + rng.normal(size=1_500) > 0.5, "high", np.where(y > 0, "mid", "low"))
    return pd.DataFrame({"x": x, "y": y, "group": group})


def asked(data, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReldepWarning)
        return reldep.compare("x", "y", "group", data=data, kernel=KERNEL, **options)


def numbers(result):
    return np.array([result.estimate, result.standard_error, result.df, *result.estimates])


def test_a_cluster_gives_the_numbers_of_one_machine(client, rows):
    found = asked(dd.from_pandas(rows, npartitions=5), engine=DaskEngine(client))
    np.testing.assert_allclose(numbers(found), numbers(asked(rows, engine=LowRank())), rtol=1e-9)
    assert found.n_observations == 1_500


def test_threads_and_a_cluster_give_the_same_bytes(client, rows):
    data = dd.from_pandas(rows, npartitions=5)
    on_cluster = numbers(asked(data, engine="dask"))
    client_of_process = distributed.default_client()
    assert client_of_process is client
    np.testing.assert_array_equal(on_cluster, numbers(asked(data)))


def test_files_are_read_by_the_workers(client, rows, tmp_path):
    for i in range(3):
        pl.from_pandas(rows[500 * i : 500 * i + 500]).write_parquet(tmp_path / f"{i}.parquet")
    here = numbers(asked(tmp_path))
    np.testing.assert_allclose(numbers(asked(tmp_path, engine="dask")), here, rtol=1e-12)


def test_partitions_may_be_empty_and_lack_what_others_have(client, rows):
    late = rows.copy()
    late.loc[late.index >= 1_400, "group"] = "only here"

    def emptied(part):
        return part.iloc[:0] if len(part) and 300 < part.index[0] < 700 else part

    cut = dd.from_pandas(late, npartitions=4).map_partitions(emptied, meta=late.iloc[:0])
    kept = cut.compute()
    found = asked(cut, engine="dask")
    np.testing.assert_allclose(numbers(found), numbers(asked(kept, engine=LowRank())), rtol=1e-9)
    assert found.n_observations == len(kept) < len(rows)


def test_what_is_no_dask_frame_is_told_so(rows):
    with pytest.raises(TypeError, match="dask series or array"):
        asked(dd.from_pandas(rows, npartitions=2).x)


def test_a_column_that_is_not_what_it_says_is_refused(client, rows):
    def spoilt(part):
        return part.assign(y=part.y.astype(str)) if part.index[0] > 0 else part

    data = dd.from_pandas(rows, npartitions=2)
    data = data.map_partitions(spoilt, meta=rows.iloc[:0], enforce_metadata=False)
    with pytest.raises(InputError, match=r"column 'y' holds values of the type String"):
        asked(data, engine="dask")


def test_worker_processes_give_the_same_numbers_though_one_is_killed(rows, monkeypatch):
    data = dd.from_pandas(rows, npartitions=8)
    computed, passes = DaskPieces._computed, []

    def with_a_death(self, root):
        passes.append(root)
        if len(passes) == 3:
            pids = self.client.run(os.getpid)
            os.kill(next(iter(pids.values())), signal.SIGKILL)
        return computed(self, root)

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        monkeypatch.setattr(DaskPieces, "_computed", with_a_death)
        found = numbers(asked(data, engine=DaskEngine(client)))
    assert len(passes) >= 4
    monkeypatch.undo()
    np.testing.assert_array_equal(found, numbers(asked(data)))
