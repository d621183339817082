"""The command line gives the library's answers, number by number, from every kind of file."""

from __future__ import annotations

import json
import shlex

import polars as pl
import pytest

import reldep
from cli.mouse_files import QUESTION

NAMES = ("diet", "lipids", "genes")
COMPARE = ("compare", "mice.csv", *QUESTION)


def blocks(mice):
    lipids = mice.select([name for name in mice.columns if name.startswith("C")])
    genes = mice.select([name for name in mice.columns if name.startswith("gene_")])
    return mice["diet"], lipids, genes


# A line, and what stands in the Python call that it prints.
SLOTS = "'diet', 'lipids=C*', 'genes=gene_*'"
COMPARED = {
    "": f"reldep.compare({SLOTS}, data='mice.csv')",
    "--measure dcor": "measure='dcor'",
    "--alternative greater --alpha 0.2": "alternative='greater'",
    "--measure hsic --variance fixed-kernel --seed 3": "variance='fixed-kernel', rng=3",
    "--max-lag 1": "max_lag=1",
    "--max-lag auto": "max_lag='auto'",
    "--kernel linear": "kernel='linear'",
    "--kernel lipids=gaussian:0.5*median --kernel genes=linear": (
        "kernel={'lipids': reldep.kernels.Gaussian(bandwidth='median', factor=0.5), "
        "'genes': 'linear'}"
    ),
    "--clusters id": "clusters='id'",
    "--where \"genotype = 'wt'\"": "data=reldep.read('mice.csv', where=\"genotype = 'wt'\")",
    # Repeated options add up.
    "--clusters id --clusters C14.0": "clusters=('id', 'C14.0')",
    "--where \"genotype = 'wt'\" --where \"diet != 'fish'\"": "where=[",
    "--first C16.0": "reldep.compare('diet', ['lipids=C*', 'C16.0'], 'genes=gene_*', data=",
    "--given C14.0 --given genotype": "given=['C14.0', 'genotype']",
    "--categories diet --categories genotype": "categories=['diet', 'genotype']",
    "--paper": f"reldep.paper_test({SLOTS}, data=",
    "--paper --alternative two-sided": "alternative='two-sided'",
}
# A kernel is a name and a parameter.
KERNELS = {
    "gaussian:2": "Gaussian(bandwidth=2, ",
    "Gaussian:0.5": "Gaussian(bandwidth=0.5, ",
    "gaussian:median": "Gaussian(bandwidth='median', factor=1.0)",
    "laplace:0.5*median": "Laplace(bandwidth='median', factor=0.5)",
    "polynomial:3": "Polynomial(degree=3, ",
    "distance:0.5": "Distance(exponent=0.5)",
}
CALLS = {
    **{
        f"dependence mice.csv --x C14.0 --y C16.0 --kernel {word}": f"reldep.kernels.{kernel}"
        for word, kernel in KERNELS.items()
    },
    **{f"compare mice.csv {shlex.join(QUESTION)} {line}": call for line, call in COMPARED.items()},
    "rank mice.csv --source diet --targets genes=gene_* --targets C14.0:C18.0,diet --alpha 0.1 "
    "--adjust holm": "reldep.rank('diet', ['genes=gene_*', 'C14.0:C18.0,diet'], "
    "confidence_level=0.9, adjust='holm', data=",
    "matrix mice.csv --variables diet,genotype,C14.0 --alpha 0.001": "n_simulations=20000",
    "contrast mice.csv --variables lipids=C* --weight diet~lipids=1 --weight diet~C14.0=-0.5": (
        "{('diet', 'lipids'): 1.0, ('diet', 'C14.0'): -0.5}"
    ),
    "dependence mice.csv --x diet --y lipids=C* --test permutation --seed 1": (
        "reldep.dependence('diet', 'lipids=C*', rng=1, test='permutation', data="
    ),
    "groups mice.csv --x lipids=C* --y genes=gene_* --by genotype": (
        "reldep.groups('lipids=C*', 'genes=gene_*', 'genotype', data="
    ),
    "matrix mice.csv --variables diet,genotype,C14.0": "reldep.matrix('diet,genotype,C14.0', data=",
    "scan mice.csv --sources gene_* --first diet --second genotype --alternative less": (
        "reldep.scan('gene_*', 'diet', second='genotype', alternative='less', data="
    ),
    "scan mice.csv --source diet --targets gene_*": "reldep.scan('diet', 'gene_*', data=",
}


@pytest.mark.parametrize("line", CALLS)
def test_a_command_runs_the_call_that_it_prints(ask, line):
    words = shlex.split(line)
    said = ask(*words, "--code", "--json")
    assert CALLS[line] in said.err
    known = {}
    exec(said.err, known)  # noqa: S102
    found = json.loads(said.out)
    expected = json.loads(known["result"].to_json(found["alpha"]))
    assert (found["table"], found["answer"]) == (expected["table"], expected["answer"])
    assert said.err.strip().endswith(f"result = {found['call']}")


def test_words_are_those_of_the_library(ask, mice):
    said = ask(*COMPARE)
    assert (said.status, said.err) == (0, "")
    assert said.out == reldep.compare(*blocks(mice), names=NAMES).summary() + "\n"


def test_incomplete_rows_are_refused_or_dropped(ask):
    refused = ask("compare", "holes.csv", *QUESTION)
    assert refused.status == 2
    assert "pass --missing drop to leave those observations out" in refused.err
    dropped = ask("compare", "holes.csv", *QUESTION, "--missing", "drop")
    assert dropped.status == 0
    assert "observations: 37 (3 incomplete left out)" in dropped.out


def test_a_block_of_one_column_bears_its_name(ask):
    said = ask("dependence", "mice.csv", "--x", "die*", "--y", '"C14.0"')
    assert said.out.startswith("diet and C14.0 are related")
    assert ask("dependence", "mice.csv", "--x", "diet", "--y", "C*").out.startswith("diet and C* ")


def test_a_matrix_without_variables_is_of_the_whole_file(ask, tmp_path, mice):
    few = tmp_path / "few.csv"
    mice.select("diet", "genotype", "C14.0").write_csv(few)
    said = ask("matrix", few)
    assert said.out.startswith("Of 3 pairs, 2 are related (Holm, 5%), most closely")
    refused = ask("matrix", "mice.csv")
    assert "Leave out identifiers ('*,!id' takes all columns but id)" in refused.err


def test_demo_answers_and_draws(ask, tmp_path):
    said = ask("demo", "--out", tmp_path / "mice.svg")
    assert said.status == 0
    assert "diet is more closely related to lipids than to genes" in said.out
    assert "And its genotype?" in said.out
    assert (tmp_path / "mice.svg").read_text().startswith("<?xml")


def test_describe_shows_types_missing_values_and_kernels(ask, tmp_path):
    lines = ask("describe", "holes.csv").out.splitlines()
    assert lines[0] == "holes.csv: 40 rows, 36 columns"
    rows = {line.split()[0]: line.split() for line in lines[4:]}
    assert rows["diet"] == ["diet", "category", "0", "5", "lin", "Delta"]
    assert rows["C14.0"][1:3] == ["number", "3"]
    assert rows["C14.0"][-2:] == ["Laplace", "(mean)"]
    assert rows["id"][-3:] == ["none:", "all", "different"]
    pl.DataFrame({"x": [[1, 2], [3]], "y": [1.5, 2.5]}).write_parquet(tmp_path / "nested.parquet")
    assert "none: other" in ask("describe", tmp_path / "nested.parquet").out


def test_describe_says_how_columns_were_read_and_what_is_doubtful(ask, tmp_path):
    text = "who,when,zip\na,01/02/2021,01234\nb,03/04/2021,04567\nTotal,01/01/2021,05801\n"
    (tmp_path / "odd.csv").write_text(text)
    said = ask("describe", tmp_path / "odd.csv").out
    assert "a row of totals ('Total'), which is no observation" in said
    assert "pass --drop-summary to leave it out" in said
    assert "odd.csv has dates whose day and month cannot be told apart: '01/02/2021'" in said
    assert "numbers that start with a zero, as codes do" in said


def test_describe_for_programs(ask):
    table = ask("describe", "mice.csv", "--csv").out.splitlines()
    assert table[0] == "name,type,n_missing,n_unique,example,minimum,maximum,kernel"
    assert table[2] == "diet,category,0,5,lin,,,Delta"
    columns = json.loads(ask("describe", "mice.csv", "--json").out)
    assert columns[1]["kernel"] == "Delta"
    assert columns[3]["minimum"] == 0.22
    assert ask("describe", "mice.csv", "--csv", "--json").status == 2


def test_describe_joins_cuts_long_examples_and_takes_categories(ask, tmp_path):
    joined = ask("describe", "design.csv", "lipids.csv", "--join", "id")
    assert joined.out.startswith("joined on 'id': 38 rows; unmatched: 2 of 40 rows")
    (tmp_path / "notes.csv").write_text(f"group,note\n1,{'word ' * 20}\n2,b\n1,c\n")
    said = ask("describe", tmp_path / "notes.csv", "--categories", "group")
    assert "  word word word word word word…  none: all different" in said.out
    assert "\ngroup   category        0          2 " in said.out


def test_version_is_printed(ask):
    assert ask("--version").out == f"reldep {reldep.__version__}\n"


FORMATS = ("csv", "tsv", "csv.gz", "parquet", "arrow", "xlsx", "npz")


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_gives_the_same_answer(ask, ending):
    expected = json.loads(ask("compare", "mice.csv", *QUESTION, "--json").out)
    found = json.loads(ask("compare", f"mice.{ending}", *QUESTION, "--json").out)
    assert found["statistic"] == pytest.approx(expected["statistic"], rel=1e-12)


JOINED = ("compare", "design.csv", "lipids.csv", "genes.parquet", "--join", "id", *QUESTION)


def test_files_are_joined_and_lost_rows_told(ask):
    told = (
        "joined on 'id': 38 rows; unmatched: 2 of 40 rows of design.csv, "
        "2 of 40 rows of genes.parquet"
    )
    said = ask(*JOINED)
    assert said.out.startswith(f"{told}\n\ndiet is more closely related")
    assert "observations: 38" in said.out
    for_machines = ask(*JOINED, "--csv")
    assert for_machines.out.startswith("relation,estimate")
    assert for_machines.err == f"{told}\n"
    assert json.loads(ask(*JOINED, "--json").out)["join"] == told


def test_the_order_of_rows_in_a_joined_file_does_not_matter(ask):
    one_file = ask("compare", "mice.csv", *QUESTION, "--where", "id not in ('m0', 'm1')", "--csv")
    assert ask(*JOINED, "--csv").out == one_file.out
