"""Words of the command line: kernels, and the library's messages as options."""

from __future__ import annotations

import inspect

import pytest

import reldep
from reldep.cli import questions
from reldep.questions.kernel_words import parse_kernel, parse_kernels
from reldep.cli.wording import ARGUMENTS, as_options
from reldep.data import checks
from reldep.kernels import Distance, Gaussian, Laplace, Polynomial, Spectrum


@pytest.mark.parametrize(
    ("word", "kernel"),
    [
        ("linear", "linear"),
        ("gaussian:2", Gaussian(2)),
        ("Gaussian:0.5", Gaussian(0.5)),
        ("gaussian:median", Gaussian()),
        ("laplace:0.5*median", Laplace(factor=0.5)),
        ("polynomial:3", Polynomial(3)),
        ("distance:0.5", Distance(0.5)),
        ("spectrum:2", Spectrum(2)),
    ],
)
def test_a_kernel_is_a_name_and_a_parameter(word, kernel):
    assert parse_kernel(word) == kernel


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("gausian:2", "kernel='gausian' is not known"),
        ("delta:2", "--kernel delta:2: delta takes no parameter after a colon"),
        ("gaussian:x", "--kernel gaussian:x: 'x' is not a number"),
        ("gaussian:x*median", "'x' is not a number"),
        ("polynomial:median", "'median' is not a number"),
        ("gaussian:-1", "--kernel gaussian:-1: bandwidth=-1; pass a positive number"),
        ("polynomial:2.5", "--kernel polynomial:2.5: degree=2.5; pass a whole number"),
    ],
)
def test_a_wrong_kernel_is_quoted_with_the_reason(word, message):
    with pytest.raises(ValueError, match="kernel") as raised:
        parse_kernel(word)
    assert message in str(raised.value)


def test_kernels_are_one_for_all_or_one_for_each_name():
    assert parse_kernels([]) == "auto"
    assert parse_kernels(["linear"]) == "linear"
    assert parse_kernels(["a=b=linear", "c=delta"]) == {"a=b": "linear", "c": "delta"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["linear", "delta"], "--kernel is given 2 times without names; write NAME=KERNEL"),
        (["linear", "x=delta"], "--kernel mixes KERNEL and NAME=KERNEL"),
        (["x=linear", "x=delta"], "--kernel gives 'x' two kernels"),
    ],
)
def test_kernels_that_contradict_each_other_are_refused(words, message):
    with pytest.raises(ValueError, match=message):
        parse_kernels(words)


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ('or pass missing="drop" to leave', "or pass --missing drop to leave"),
        ("measure='hsik' is not known", "--measure hsik is not known"),
        ("max_lag=400 for 40", "--max-lag 400 for 40"),
        ("leave clusters and max_lag out.", "leave clusters and --max-lag out."),
        ("alpha=-1.5; pass", "--alpha -1.5; pass"),
        ("rng=3.", "--seed 3."),
        ("Pass kernel=reldep.kernels.EditDistance() for", "Pass --kernel edit-distance for"),
        ("the condition 'a > 1 and test=2' is", "the condition 'a > 1 and test=2' is"),
        ("no column 'kernel=1' in x", "no column 'kernel=1' in x"),
        ("x's measure='cka' isn't", "x's --measure cka isn't"),
        ("Gaussian(bandwidth=2)", "Gaussian(bandwidth=2)"),
    ],
)
def test_arguments_are_told_as_options(python, shell):
    assert as_options(python) == shell


def options(command):
    return inspect.signature(command).parameters


@pytest.mark.parametrize("name", ["compare", "rank", "contrast", "dependence"])
def test_every_option_of_a_question_is_an_argument_of_the_library(name):
    asked = set(inspect.signature(getattr(reldep, name)).parameters) | {"seed"}
    shared = {"measure", "kernel", "variance", "clusters", "max_lag", "missing", "engine", "seed"}
    given = set(options(getattr(questions, name)))
    assert shared <= given & asked
    told = {"seed" if argument == "rng" else argument for argument in ARGUMENTS}
    assert (given & asked) - told <= {"source", "first", "second", "targets", "x", "y", "seed"}


@pytest.mark.parametrize(
    ("command", "option", "known"),
    [
        ("compare", "measure", checks.MEASURES),
        ("compare", "missing", checks.MISSING),
        ("compare", "variance", checks.VARIANCES),
        ("compare", "method", checks.METHODS),
        ("compare", "alternative", checks.ALTERNATIVES),
        ("contrast", "alternative", checks.ALTERNATIVES),
        ("rank", "adjust", checks.ADJUSTMENTS),
    ],
)
def test_the_choices_are_those_of_the_library(command, option, known):
    annotation = options(getattr(questions, command))[option].annotation
    assert annotation.__origin__.__args__ == known
