"""AnnData files and objects: the cells' columns and the genes, read when they are needed."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_matrix, csr_matrix
from typed_files import write_annotated as write

import reldep
from reldep.data.selectors import ColumnType
from reldep.files.anndata import read_annotated
from reldep.files.byte_sources import open_source
from reldep.files.read import completed

h5py = pytest.importorskip("h5py")

pytestmark = pytest.mark.filterwarnings("ignore::reldep.ReldepWarning")

# Written by anndata 0.12.19, see tests/reference/README.md.
CELLS = Path(__file__).parents[1] / "reference" / "cells.h5ad"


def counts(m=40, n=300, seed=0):
    return np.random.default_rng(seed).poisson(1.0, size=(m, n)).astype(np.float32)


def obs(m=40, seed=1):
    rng = np.random.default_rng(seed)
    return {
        "age": rng.normal(size=m),
        "diet": pd.Categorical(rng.choice(["fish", "sun"], m)),
        "cluster": pd.Categorical(rng.choice(["0", "1"], m)),
    }


def test_a_file_of_anndata_is_read_as_it_was_written():
    table = reldep.read(CELLS)
    assert dict(list(table.columns.items())[:7]) == {
        "obs_names": ColumnType.TEXT,
        "diet": ColumnType.CATEGORY,
        "cluster": ColumnType.CATEGORY,
        "age": ColumnType.NUMBER,
        "treated": ColumnType.BOOLEAN,
        "dose": ColumnType.INTEGER,
        "gene0": ColumnType.GENE,
    }
    frame = table.read(["obs_names", "cluster", "age", "dose", "gene0", "gene2"])
    # The first rows that AnnData.write_csvs gives for the same object.
    assert frame.row(0) == ("cell0", "2", -0.184, 0, 1.0, 0.0)
    assert frame["dose"].null_count() == 1
    assert len(table.select("@genes")) == 12
    twice = reldep.read(CELLS, layer="twice").read(["gene2"])["gene2"]
    assert (twice == 2 * frame["gene2"]).all()


@pytest.mark.parametrize("made", [np.asarray, csr_matrix, csc_matrix])
def test_every_way_of_storing_gives_the_same_numbers(tmp_path, made):
    matrix = counts()
    table = reldep.read(write(tmp_path / "cells.h5ad", made(matrix), obs()))
    wanted = ["gene3", "gene299", "age", "gene0", "gene100", "gene101"]
    frame = table.read(wanted)
    assert frame.columns == wanted
    for name in ("gene3", "gene299", "gene0", "gene100", "gene101"):
        np.testing.assert_array_equal(frame[name], matrix[:, int(name[4:])])
    kept = table.restricted("gene3 > 1 and diet = 'fish'").read(["gene5"])["gene5"]
    chosen = (matrix[:, 3] > 1) & (np.array(obs()["diet"]) == "fish")
    np.testing.assert_array_equal(kept, matrix[chosen, 5])
    assert len(table) == 40


def test_a_matrix_too_large_to_be_held_is_read_by_rows(tmp_path):
    matrix = counts()
    source = open_source(write(tmp_path / "cells.h5ad", csr_matrix(matrix), obs()))
    table = read_annotated(source, completed({}), most_held=10_000)
    frame = table.read(table.select("@genes"))
    np.testing.assert_array_equal(frame.to_numpy(), matrix)


class AnnData:
    """What is used of anndata's own class."""

    def __init__(self, matrix, cells):
        self.X = matrix
        self.obs = pd.DataFrame(cells, index=[f"cell{i}" for i in range(matrix.shape[0])])
        self.obs_names = self.obs.index
        self.var_names = pd.Index([f"gene{i}" for i in range(matrix.shape[1])])
        self.layers = {"twice": 2 * matrix}


@pytest.mark.parametrize("made", [np.asarray, csr_matrix, csc_matrix])
def test_a_scan_of_a_file_or_an_object_is_that_of_the_arrays(tmp_path, made):
    matrix, cells = counts(n=60), obs()
    names = {f"gene{i}": column for i, column in enumerate(matrix.T.astype(float))}
    diet = np.array(cells["diet"])
    expected = reldep.scan(names, diet, cells["age"], names=["diet", "age"]).to_frame()
    path = write(tmp_path / "cells.h5ad", made(matrix), cells)
    for data in (path, AnnData(made(matrix), cells)):
        assert reldep.scan("@genes", "diet", "age", data=data).to_frame().equals(expected)
    targets = reldep.scan("diet", "@genes", data=path)
    assert targets.to_frame().equals(reldep.scan(diet, names).to_frame())


def test_a_layer_of_an_object_is_read_on_request():
    table = reldep.read(AnnData(counts(), obs()), layer="twice")
    np.testing.assert_array_equal(table.read(["gene4"])["gene4"], 2 * counts()[:, 4])


def test_the_library_itself_agrees():
    anndata = pytest.importorskip("anndata")
    whole = anndata.read_h5ad(CELLS)
    backed = anndata.read_h5ad(CELLS, backed="r")
    expected = reldep.scan("@genes", "diet", "age", data=CELLS).to_frame()
    for data in (whole, backed):
        assert reldep.scan("@genes", "diet", "age", data=data).to_frame().equals(expected)


def test_missing_cells_of_the_matrix_are_missing(tmp_path):
    matrix = counts()
    matrix[3, 5] = np.nan
    path = write(tmp_path / "cells.h5ad", matrix, obs())
    with pytest.raises(ValueError, match=r"'gene5' among the sources has missing values: .*row 3"):
        reldep.scan("@genes", "diet", "age", data=path)


def test_genes_of_one_name_are_refused(tmp_path):
    genes = [f"gene{i % 299}" for i in range(300)]
    path = write(tmp_path / "cells.h5ad", counts(), obs(), genes=genes)
    with pytest.raises(ValueError, match=r"several genes of one name: 'gene0'.*make_unique"):
        reldep.read(path)


def test_a_gene_with_the_name_of_a_column_gets_another(tmp_path):
    genes = [f"gene{i}" for i in range(299)] + ["age"]
    table = reldep.read(write(tmp_path / "cells.h5ad", counts(), obs(), genes=genes))
    np.testing.assert_array_equal(table.read(["X:age"])["X:age"], counts()[:, 299])
    np.testing.assert_array_equal(table.read(["age"])["age"], obs()["age"])
    assert "called X:age" in str(table.notes_about(["age"])[0])


def test_what_is_no_such_file_is_refused_in_words(tmp_path):
    path = tmp_path / "cells.h5ad"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(40))
    with pytest.raises(ValueError, match="or only a part of an AnnData file"):
        reldep.read(path)
    with h5py.File(path, "w") as file:
        file.create_dataset("numbers", data=[1, 2])
    with pytest.raises(ValueError, match="has no 'obs'"):
        reldep.read(path)
    with pytest.raises(ValueError, match=r"`layer='twise'`: no such layer.*'twice'"):
        reldep.read(CELLS, layer="twise")


def test_a_file_that_refers_to_others_is_refused_before_it_is_read(tmp_path):
    other = write(tmp_path / "other.h5ad", counts(), obs())
    np.zeros(40).tofile(tmp_path / "raw")
    for kind in ("external link", "soft link", "external storage", "virtual"):
        path = write(tmp_path / "cells.h5ad", counts(), obs())
        with h5py.File(path, "a") as file:
            del file["obs/age"]
            if kind == "external link":
                file["obs/age"] = h5py.ExternalLink(str(other), "obs/age")
            elif kind == "soft link":
                file["obs/age"] = h5py.SoftLink("/obs/diet")
            elif kind == "external storage":
                place = [(str(tmp_path / "raw"), 0, h5py.h5f.UNLIMITED)]
                file["obs"].create_dataset("age", (40,), dtype="f8", external=place)
            else:
                layout = h5py.VirtualLayout((40,), dtype="f8")
                layout[:] = h5py.VirtualSource(str(other), "obs/age", shape=(40,))
                file["obs"].create_virtual_dataset("age", layout)
        with pytest.raises(ValueError, match=r"'/obs/age' of .*cells.h5ad refers to another"):
            reldep.read(path)


@pytest.mark.parametrize("made", [csr_matrix, csc_matrix])
@pytest.mark.parametrize("fault", ["indices", "indptr", "negative", "short"])
def test_sparse_matrices_are_checked_where_they_are_read(tmp_path, made, fault):
    path = write(tmp_path / "cells.h5ad", made(counts()), obs())
    with h5py.File(path, "a") as file:
        if fault == "indices":
            file["X/indices"][5] = 10**6
        elif fault == "negative":
            file["X/indices"][5] = -1
        elif fault == "indptr":
            file["X/indptr"][3] = 10**7
        else:
            starts = file["X/indptr"][:-4]
            del file["X/indptr"]
            file["X"].create_dataset("indptr", data=starts)
    with pytest.raises(ValueError, match=r"the sparse matrix of .*cells.h5ad"):
        reldep.read(path).read([f"gene{i}" for i in range(300)])
