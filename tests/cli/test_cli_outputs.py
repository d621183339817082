"""JSON, CSV, pictures and reports: true, stable, whole or not there."""

from __future__ import annotations

import csv
import html
import importlib.resources
import json
import re
import shlex

import jsonschema
import pytest

import reldep
from cli.conftest import ROOT
from cli.mouse_files import QUESTION

COMPARE = ("compare", "mice.csv", *QUESTION)
QUESTIONS = {
    "compare": COMPARE,
    "rank": ("rank", "mice.csv", "--source", "diet", "--targets", "C14.0:C18.0"),
    "contrast": ("contrast", "mice.csv", "--weight", "diet~C14.0=1", "--weight", "diet~C16.0=-1"),
    "dependence": ("dependence", "mice.csv", "--x", "diet", "--y", "C14.0"),
    "sensitivity": ("sensitivity", "mice.csv", *QUESTION),
}
KINDS = {"compare": "comparison", "rank": "ranking"}


def names_in(folder):
    return [path.name for path in folder.iterdir()]


@pytest.fixture(scope="module")
def schema():
    text = importlib.resources.files("reldep.cli").joinpath("result.schema.json").read_text()
    return json.loads(text)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(
    "words",
    [[], ["--measure", "hsic"], ["--measure", "dcor"], ["--alpha", "0.1", "--seed", "3"]],
    ids=" ".join,
)
def test_json_is_as_its_schema_says(ask, schema, question, words):
    if question == "sensitivity" and "dcor" in words:
        pytest.skip("distances have no bandwidth")
    said = ask(*QUESTIONS[question], *words, "--json")
    assert said.status == 0
    found = json.loads(said.out)
    jsonschema.Draft202012Validator(schema).validate(found)
    assert found["kind"] == KINDS.get(question, question)
    assert found["question"].endswith("?")
    assert found["command"].startswith(f"reldep {question} mice.csv ")


@pytest.mark.parametrize(("side", "end"), [("greater", 1), ("less", 0)])
def test_a_bound_without_another_end_is_as_the_schema_says(ask, schema, side, end):
    words = (*COMPARE, "--measure", "hsic", "--alternative", side, "--json")
    found = json.loads(ask(*words).out)
    jsonschema.validate(found, schema)
    assert found["confidence_interval"][end] is None
    assert found["confidence_interval"][1 - end] is not None
    assert found["table"][-1][("low", "high")[end]] is None


def test_the_schema_refuses_what_is_not_a_result(ask, schema):
    found = json.loads(ask(*COMPARE, "--json").out)
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    assert validator.is_valid({**found, "kind": "of the future", "surprise": 1})
    for broken in (
        {**found, "pvalue": None},
        {**found, "surprise": 1},
        {key: value for key, value in found.items() if key != "estimate"},
        {**found, "kind": "ranking"},
        {**found, "schema": "reldep.result/1"},
    ):
        assert not validator.is_valid(broken)


def test_json_numbers_are_not_rounded_and_never_nan(ask):
    found = json.loads(ask(*COMPARE, "--variance", "fixed-kernel", "--alpha", "0.2", "--json").out)
    assert found["table"][2]["estimate"] == found["estimate"]
    assert len(repr(found["estimate"])) > 15
    # The normal law has infinitely many degrees of freedom, which JSON cannot write.
    assert found["df"] is None
    assert found["confidence_level"] == 0.8
    assert "80% interval" in found["answer"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_csv_holds_the_table_unrounded(ask, question):
    said = ask(*QUESTIONS[question], "--csv")
    rows = list(csv.DictReader(said.out.splitlines()))
    table = json.loads(ask(*QUESTIONS[question], "--json").out)["table"]
    written = [{k: "" if v is None else str(v) for k, v in row.items()} for row in table]
    assert rows == written


@pytest.mark.parametrize(
    ("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("PDF", b"%PDF")]
)
def test_a_picture_is_written_by_its_ending(ask, tmp_path, ending, start):
    path = tmp_path / f"picture.{ending}"
    said = ask(*COMPARE, "--plot", path)
    assert said.out.endswith(f"The picture is in {path}.\n")
    assert path.read_bytes().startswith(start)
    assert names_in(tmp_path) == [path.name]


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_has_a_picture_and_a_report(ask, tmp_path, question):
    words = ("--plot", tmp_path / "a.png", "--report", tmp_path / "a.html", "--json")
    said = ask(*QUESTIONS[question], *words)
    assert "is in" not in said.out
    page = html.unescape((tmp_path / "a.html").read_text())
    assert json.loads(said.out)["answer"] in page
    assert ("Does the answer depend on the bandwidth" in page) is (question == "compare")


def test_the_report_is_that_of_the_library_apart_from_the_command(ask, mice, tmp_path):
    said = ask(*COMPARE, "--report", tmp_path / "a.html")
    assert said.status == 0
    lipids = mice.select([name for name in mice.columns if name.startswith("C")])
    genes = mice.select([name for name in mice.columns if name.startswith("gene_")])
    data, names = (mice["diet"], lipids, genes), ["diet", "lipids", "genes"]
    result = reldep.compare(*data, names=names)
    result.to_html(tmp_path / "b.html", sensitivity=reldep.sensitivity(*data, names=names))
    command = shlex.join(["reldep", *COMPARE])
    by_command, by_library = (
        html.unescape((tmp_path / name).read_text()) for name in ("a.html", "b.html")
    )
    assert by_command.count(command) == 1
    # A file's rows are named by line, an array's by position.
    before, after = "Most influential observations", "How it was computed"
    assert by_command.partition(before)[0] == by_library.partition(before)[0]
    assert by_command.partition(after)[2].replace(command, "") == by_library.partition(after)[
        2
    ].replace(result.provenance.call, "")


@pytest.mark.parametrize(
    "words", [("--kernel", "linear"), ("--paper", "--method", "split")], ids=" ".join
)
def test_a_report_without_bandwidths_or_rows_in_common_has_no_curve(ask, tmp_path, words):
    said = ask(*COMPARE, *words, "--report", tmp_path / "a.html")
    assert said.status == 0
    assert "Does the answer depend on the bandwidth" not in (tmp_path / "a.html").read_text()


@pytest.mark.parametrize("option", ["--plot", "--report"])
def test_outputs_are_checked_before_the_work(ask, tmp_path, monkeypatch, option):
    asked = ("compare", "nowhere.csv", *QUESTION)  # which would be said if it were looked for
    ending = {"--plot": "png", "--report": "html"}[option]
    nowhere = ask(*asked, option, tmp_path / "none" / f"a.{ending}")
    assert nowhere.status == 2
    assert f"the directory {tmp_path / 'none'} does not exist; make it first" in nowhere.err
    (tmp_path / f"b.{ending}").mkdir()
    assert (
        "it is a directory; name a file in it" in ask(*asked, option, tmp_path / f"b.{ending}").err
    )
    monkeypatch.setattr("os.access", lambda *_: False)
    locked = ask(*asked, option, tmp_path / f"a.{ending}")
    assert locked.status == 2
    assert f"no permission to write into {tmp_path}" in locked.err
    assert names_in(tmp_path) == [f"b.{ending}"]


def test_every_field_of_the_json_is_documented(schema):
    guide = (ROOT / "docs" / "guide" / "command-line.md").read_text().partition("## JSON")[2]
    assert set(schema["properties"]) <= set(re.findall(r"`(\w+)`", guide))
