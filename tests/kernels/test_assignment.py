"""Every variable of a question gets its kernel in one place."""

from __future__ import annotations

import pytest

from reldep.kernels import Distance, Gaussian, Precomputed
from reldep.kernels.choosing import assign

RANKED = {"names": ["x", "y", "z"], "roles": ["source", "targets", "targets"]}
COMPARED = {"names": ["x", "y", "z"], "roles": ["source", "first", "second"]}
CONTRASTED = {"names": ["x", "z"], "among": ["w", "x", "y", "z"]}


@pytest.mark.parametrize(
    ("spec", "question", "expected"),
    [
        ("linear", COMPARED, ["linear"] * 3),
        (("a", "b", "c"), COMPARED, ["a", "b", "c"]),
        (["a", "b", "c"], COMPARED, ["a", "b", "c"]),
        ({"first": "b"}, COMPARED, ["auto", "b", "auto"]),
        ({"y": "b", "source": "a"}, COMPARED, ["a", "b", "auto"]),
        ({"y": "own", "first": "role"}, COMPARED, ["auto", "own", "auto"]),
        (("a", "b"), RANKED, ["a", "b", "b"]),
        ({"targets": "b", "z": "own"}, RANKED, ["auto", "b", "own"]),
        (("d", "a", "b", "c"), CONTRASTED, ["a", "c"]),
        ({"w": "d", "z": "c"}, CONTRASTED, ["auto", "c"]),
    ],
)
def test_what_a_user_writes_reaches_every_variable(spec, question, expected):
    question = dict(question)
    names = question.pop("names")
    assert assign(spec, names, **question) == dict(zip(names, expected, strict=True))


def test_distance_correlation_brings_its_distance():
    given = Precomputed([[0.0, -1.0], [-1.0, 0.0]])
    spec = {"x": Distance(1.5), "y": "distance", "z": given}
    assigned = assign(spec, ["w", "x", "y", "z"], measure="dcor")
    assert list(assigned.values()) == [Distance(), Distance(1.5), Distance(), given]


def sinc(A, B):
    return A @ B.T


@pytest.mark.parametrize("spec", ["gaussian", Gaussian(2.0), sinc])
def test_distance_correlation_refuses_other_kernels(spec):
    message = "`measure='dcor'` is defined by distances, not by `kernel=.*`measure='cka'`"
    with pytest.raises(ValueError, match=message):
        assign(spec, ["x", "y"], measure="dcor")


@pytest.mark.parametrize(
    ("spec", "question", "message"),
    [
        (("a", "b"), COMPARED, "tuple of 2 for 3 variables; pass one for each of x, y, z"),
        (("a", "b", "c"), RANKED, "tuple of 3 for 2 variables; .* of source, targets"),
        (("a", "b"), CONTRASTED, "tuple of 2 for 4 variables; .* of w, x, y, z"),
        ({"sauce": "a"}, COMPARED, "kernel names 'sauce'.*did you mean 'source'"),
    ],
)
def test_what_does_not_match_the_variables_is_refused(spec, question, message):
    question = dict(question)
    with pytest.raises(ValueError, match=message):
        assign(spec, question.pop("names"), **question)
