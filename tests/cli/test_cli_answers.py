"""The command line gives the library's answers."""

from __future__ import annotations

import json

import polars as pl
import pytest

import reldep
from cli.mouse_files import QUESTION
from reldep.kernels import Gaussian


def blocks(mice):
    lipids = mice.select([name for name in mice.columns if name.startswith("C")])
    genes = mice.select([name for name in mice.columns if name.startswith("gene_")])
    return mice["diet"], lipids, genes


NAMES = ("diet", "lipids", "genes")


def test_compare_says_what_the_library_says(ask, mice):
    said = ask("compare", "mice.csv", *QUESTION)
    assert said.status == 0
    assert said.out == reldep.compare(*blocks(mice), names=NAMES).summary() + "\n"
    assert said.err == ""


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["--measure", "dcor"], {"measure": "dcor"}),
        (["--alternative", "two-sided"], {"alternative": "two-sided"}),
        (["--variance", "fixed-kernel", "--seed", "3"], {"variance": "fixed-kernel", "rng": 3}),
        (
            ["--measure", "hsic", "--variance", "fixed-kernel"],
            {"measure": "hsic", "variance": "fixed-kernel"},
        ),
        (["--max-lag", "1"], {"max_lag": 1}),
        (["--max-lag", "auto"], {"max_lag": "auto"}),
        (["--kernel", "linear"], {"kernel": "linear"}),
        (
            ["--kernel", "lipids=gaussian:0.5*median", "--kernel", "genes=linear"],
            {"kernel": {"lipids": Gaussian(factor=0.5), "genes": "linear"}},
        ),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_every_option_reaches_the_question(ask, mice, words, options):
    said = ask("compare", "mice.csv", *QUESTION, *words, "--json")
    expected = reldep.compare(*blocks(mice), names=NAMES, **options)
    found = json.loads(said.out)
    assert found["statistic"] == expected.statistic
    assert found["pvalue"] == expected.pvalue


def test_clusters_are_a_column(ask, mice):
    said = ask("compare", "mice.csv", *QUESTION, "--clusters", "id", "--json")
    expected = reldep.compare(*blocks(mice), names=NAMES, clusters=mice["id"])
    assert json.loads(said.out)["standard_error"] == expected.standard_error


def test_where_chooses_rows(ask, mice):
    said = ask("compare", "mice.csv", *QUESTION, "--where", "genotype = 'wt'", "--json")
    chosen = blocks(mice.filter(mice["genotype"] == "wt"))
    assert json.loads(said.out)["estimate"] == reldep.compare(*chosen).estimate
    assert json.loads(said.out)["n_observations"] == 20


def test_incomplete_rows_are_refused_or_dropped(ask):
    refused = ask("compare", "holes.csv", *QUESTION)
    assert refused.status == 2
    assert "pass --missing drop to leave those observations out" in refused.err
    dropped = ask("compare", "holes.csv", *QUESTION, "--missing", "drop")
    assert dropped.status == 0
    assert "observations: 37 (3 incomplete left out)" in dropped.out


def test_codes_may_be_labels(ask, mice, tmp_path):
    codes = mice["diet"].cast(str).rank("dense").cast(int)
    mice.with_columns(codes.alias("diet")).write_csv(tmp_path / "codes.csv")
    words = ["compare", tmp_path / "codes.csv", *QUESTION, "--json"]
    as_labels = json.loads(ask(*words, "--categories", "diet").out)
    assert as_labels["estimate"] == reldep.compare(*blocks(mice)).estimate
    assert json.loads(ask(*words).out)["estimate"] != as_labels["estimate"]


def test_rank_takes_columns_and_blocks(ask, mice):
    said = ask(
        *("rank", "mice.csv", "--source", "diet", "--targets", "genes=gene_*"),
        *("--targets", "C14.0:C18.0,diet", "--alpha", "0.1", "--adjust", "holm", "--json"),
    )
    found = json.loads(said.out)
    columns = {name: mice[name] for name in ("C14.0", "C16.0", "C18.0")}
    expected = reldep.rank(
        mice["diet"],
        {"genes": blocks(mice)[2], **columns},
        confidence_level=0.9,
        adjust="holm",
        names=["diet", "genes", *columns],
    )
    assert found["best"] == list(expected.best)
    assert found["confidence_level"] == 0.9
    assert found["pairwise"] == expected.pairwise().to_dicts()


def test_rank_needs_two_targets(ask):
    said = ask("rank", "mice.csv", "--source", "diet", "--targets", "diet,C14.0")
    assert said.status == 2
    assert "targets has 1 of at least 2 targets: 'C14.0'" in said.err


def test_contrast_takes_columns_and_blocks(ask, mice):
    said = ask(
        *("contrast", "mice.csv", "--variables", "lipids=C*"),
        *("--weight", "diet~lipids=1", "--weight", "diet~C14.0=-0.5", "--json"),
    )
    diet, lipids, _ = blocks(mice)
    expected = reldep.contrast(
        {"diet": diet, "lipids": lipids, "C14.0": mice["C14.0"]},
        {("diet", "lipids"): 1, ("diet", "C14.0"): -0.5},
    )
    assert json.loads(said.out)["estimate"] == expected.estimate


def test_dependence_can_be_tested_by_permutation(ask, mice):
    said = ask(
        *("dependence", "mice.csv", "--x", "diet", "--y", "lipids=C*"),
        *("--test", "permutation", "--seed", "1", "--json"),
    )
    diet, lipids, _ = blocks(mice)
    expected = reldep.dependence(diet, lipids, test="permutation", rng=1)
    assert json.loads(said.out)["pvalue"] == expected.pvalue


def test_a_block_of_one_column_bears_its_name(ask):
    said = ask("dependence", "mice.csv", "--x", "die*", "--y", '"C14.0"')
    assert said.out.startswith("diet and C14.0 are related")
    assert ask("dependence", "mice.csv", "--x", "diet", "--y", "C*").out.startswith("diet and C* ")


def test_demo_answers_and_draws(ask, tmp_path):
    said = ask("demo", "--out", tmp_path / "mice.svg")
    assert said.status == 0
    assert "diet is more closely related to lipids than to genes" in said.out
    assert "And its genotype?" in said.out
    assert (tmp_path / "mice.svg").read_text().startswith("<?xml")


def test_describe_shows_types_missing_values_and_kernels(ask):
    lines = ask("describe", "holes.csv").out.splitlines()
    assert lines[0] == "holes.csv: 40 rows, 36 columns"
    rows = {line.split()[0]: line.split() for line in lines[4:]}
    assert rows["diet"] == ["diet", "category", "0", "5", "lin", "Delta"]
    assert rows["C14.0"][1:3] == ["number", "3"]
    assert rows["C14.0"][-2:] == ["Laplace", "(mean)"]
    assert rows["id"][-3:] == ["none:", "all", "different"]


def test_describe_for_machines(ask):
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


def test_describe_knows_nested_values(ask, tmp_path):
    pl.DataFrame({"x": [[1, 2], [3]], "y": [1.5, 2.5]}).write_parquet(tmp_path / "nested.parquet")
    assert "none: other" in ask("describe", tmp_path / "nested.parquet").out


def test_version_is_printed_both_ways(ask):
    assert ask("version").out == ask("--version").out == f"reldep {reldep.__version__}\n"


def test_groups_and_matrices_are_those_of_the_library(ask, mice):
    _, lipids, genes = blocks(mice)
    said = ask("groups", "mice.csv", "--x", "lipids=C*", "--y", "genes=gene_*", "--by", "genotype")
    expected = reldep.groups(lipids, genes, mice["genotype"], names=("lipids", "genes"))
    assert said.out == expected.summary() + "\n"
    said = ask("matrix", "mice.csv", "--variables", "diet,genotype,C14.0")
    table = reldep.matrix(mice.select("diet", "genotype", "C14.0"))
    assert said.out == table.summary() + "\n"


def test_a_matrix_without_variables_is_of_the_whole_file(ask, tmp_path, mice):
    few = tmp_path / "few.csv"
    mice.select("diet", "genotype", "C14.0").write_csv(few)
    said = ask("matrix", few)
    assert said.out.startswith("2 of 3 pairs are related (Holm, 5%), most closely")
    refused = ask("matrix", "mice.csv")
    assert "Leave out identifiers (of columns '*,!id' takes all but id)" in refused.err
    assert "name the first by --variables" in ask("matrix", "mice.csv", "--columns", "C*").err


def test_one_source_depends_and_several_depend(ask):
    genes = ("--sources", "gene_*", "--first", "diet", "--second", "genotype")
    said = ask("scan", "mice.csv", *genes)
    start = "Of 12 sources,"
    assert said.out.startswith(f"{start} 1 is more closely related to diet and 1 to genotype (")
    said = ask("scan", "mice.csv", *genes, "--alternative", "greater")
    assert said.out.startswith(f"{start} 1 is more closely related to diet than to genotype (")
    said = ask("scan", "mice.csv", *genes, "--alternative", "less")
    assert said.out.startswith(f"{start} 3 are more closely related to genotype than to diet (")
