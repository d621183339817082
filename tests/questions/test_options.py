"""Each option is defined once and is visible everywhere; words become calls in one way."""

from __future__ import annotations

import inspect
import json
import pydoc
import warnings

import numpy as np
import polars as pl
import pytest
from mypy import api

import reldep
from reldep.arguments import Interface, python_code
from reldep.questions import SENTENCES
from reldep.questions.request import Request, interface, offered

X = np.random.default_rng(0).normal(size=40)
Y, Z = X**2, np.sin(3 * X) + X
TABLE = pl.DataFrame(
    {name: np.random.default_rng(i).normal(size=30) for i, name in enumerate(["x", "y", "z", "w"])}
)
QUESTIONS = [*SENTENCES, "paper_test"]
# The options that a function has at most, besides those of one question only.
SHARED = {
    *("measure", "kernel", "alternative", "variance", "given", "clusters", "max_lag"),
    *("missing", "engine", "rng", "names", "data"),
}


@pytest.mark.parametrize(
    "function",
    [getattr(reldep, name) for name in (*QUESTIONS, "hsic", "cka", "influence")],
    ids=lambda function: function.__name__,
)
def test_every_argument_is_in_signature_and_help(function):
    text = pydoc.render_doc(function, renderer=pydoc.plaintext)
    assert "As for :func:" not in text
    for argument in Interface.of(function).arguments.values():
        assert inspect.signature(function).parameters[argument.name].default == argument.default
        for line in argument.documentation().splitlines():
            assert line.strip() in text


def test_twelve_options_are_shared():
    compare = inspect.signature(reldep.compare).parameters
    assert set(compare) == {"source", "first", "second", *SHARED}
    for name in QUESTIONS:
        gone = {"where", "ids", "na", "standardize", "output", "resume"}
        assert not gone & set(inspect.signature(getattr(reldep, name)).parameters)


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_default_passes_its_own_check(name):
    for argument in interface(name).arguments.values():
        if argument.default is not inspect.Parameter.empty:
            argument.validate(argument.default)


def test_mypy_sees_names_and_types_of_options(tmp_path):
    calls = ["adjust='holm', max_lag='auto'", "mesure='cka'", "measure='ckaa'", "max_lag=1.5"]
    program = "import reldep\n" + "\n".join(f"reldep.rank(1, 2, {one})" for one in calls)
    (tmp_path / "program.py").write_text(program)
    cache = f"--cache-dir={tmp_path}"
    output = api.run(["--strict", "--follow-imports=silent", cache, str(tmp_path / "program.py")])
    errors = [line for line in output[0].splitlines() if ": error: " in line]
    assert len(errors) == 3, output
    assert 'did you mean "measure"?' in errors[0]
    assert "expected \"Literal['cka', 'hsic', 'dcor']\"" in errors[1]
    assert '"float"; expected "int | Literal[\'auto\'] | None"' in errors[2]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (("a",), "('a',)"),
        ([1, (2.5, None)], "[1, (2.5, None)]"),
        ({"x": "linear"}, "{'x': 'linear'}"),
        (reldep.kernels.Gaussian(2.0), "reldep.kernels.Gaussian(bandwidth=2.0, factor=1.0)"),
        ([X], None),
        ({"x": X}, None),
        (list(range(21)), None),
        (len, None),
    ],
)
def test_plain_values_are_written_as_code(value, text):
    assert python_code(value) == text


def test_a_form_makes_the_same_call_as_a_command_line():
    typed = {"source": ["x"], "targets": ["y", "b=z,w"], "max_lag": None, "missing": "raise"}
    filled = {"source": "x", "targets": "y\nb=z,w", "max_lag": ""}
    for words in (typed, filled):
        request = Request.from_words(question="rank", files=("t.csv",), words=words)
        assert request.call() == "reldep.rank('x', ['y', 'b=z,w'], data='t.csv')"
        assert Request.from_dict(json.loads(json.dumps(request.to_dict()))) == request


@pytest.mark.parametrize("question", SENTENCES)
def test_every_place_of_a_sentence_is_an_argument(question):
    places = {name: name for name in offered(question)}
    assert "{" not in SENTENCES[question].format(**places)


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ({}, ""),
        ({"variance": "jackknife", "kernel": "gaussian"}, ", kernel='gaussian'"),
        ({"measure": "hsic", "alternative": "less"}, ", measure='hsic', alternative='less'"),
        ({"clusters": np.arange(40) // 4}, ", clusters=clusters"),
    ],
)
def test_a_call_is_written_without_data_and_defaults(options, written):
    call = reldep.compare(X, Y, Z, **options).provenance.call
    assert call == f"reldep.compare(source, first, second{written})"


def test_kernels_and_weights_are_written_as_in_a_program():
    kernel = reldep.kernels.Gaussian(bandwidth=2.0)
    weights = {("x", "y"): 1, ("x", "z"): -0.5}
    result = reldep.contrast({"x": X, "y": Y, "z": Z}, weights, kernel=(kernel, "linear", "linear"))
    assert result.provenance.call == (
        "reldep.contrast(variables, {('x', 'y'): 1, ('x', 'z'): -0.5}, "
        f"kernel=(reldep.kernels.{kernel!r}, 'linear', 'linear'))"
    )


def test_the_call_repeats_the_result():
    result = reldep.compare(X, Y, Z, kernel=reldep.kernels.Gaussian(2.0), rng=5)
    again = eval(result.provenance.call, {"reldep": reldep, "source": X, "first": Y, "second": Z})  # noqa: S307
    assert again.pvalue == result.pvalue


@pytest.mark.parametrize(
    ("rng", "text"),
    [
        (None, "0 (the default)"),
        (np.int64(7), "7"),
        (np.random.default_rng(1), "a generator passed as rng"),
    ],
)
def test_the_seed_is_noted(rng, text):
    assert reldep.compare(X, Y, Z, rng=rng).provenance.seed == text


@pytest.mark.parametrize("question", [reldep.hsic, reldep.dependence, reldep.cka])
def test_warnings_point_at_the_line_of_the_user(question):
    coded = np.where(np.arange(40) == 3, -999, X)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        question(coded, Y)
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize("odd", ["a,b", "dose=5", '"q"', "x ", "C*", "!age", "1:3", "@numeric"])
def test_the_whole_name_of_a_column_comes_before_what_its_signs_mean(odd):
    named = TABLE.rename({"x": odd})
    found = reldep.compare(odd, "y", "z", data=named)
    assert found.estimate == reldep.compare("x", "y", "z", data=TABLE).estimate
    assert found.source == odd


def test_a_list_of_columns_is_a_block():
    found = reldep.compare("x", ["y", "w"], "z", data=TABLE)
    assert found.estimate == reldep.compare("x", "y,w", "z", data=TABLE).estimate
    assert found.first == "y, w"
