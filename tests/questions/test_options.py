"""Each option is defined once and is visible everywhere; words become calls in one way."""

from __future__ import annotations

import inspect
import json
import pydoc

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
