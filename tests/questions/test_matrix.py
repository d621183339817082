"""All pairs: cells that other questions give too, what is compared, and what is refused."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import reldep

FEW = {"n_simulations": 400}


@pytest.fixture
def variables(rng):
    x = rng.normal(size=60)
    return {
        "plain": x,
        "noisy": x + rng.normal(size=60),
        "counts": rng.poisson(2, size=60),
        "labels": np.array(["u", "v", "w"])[rng.integers(3, size=60)],
        "block": rng.normal(size=(60, 3)) + x[:, None],
        "heavy": np.exp(1.5 * rng.normal(size=60)),
    }


def test_a_comparison_of_cells_says_what_it_found_and_what_its_pvalue_is_for(rng):
    x = rng.normal(size=100)
    data = {"x": x, "near": x + 0.3 * rng.normal(size=100), "far": rng.normal(size=100)}
    found = reldep.matrix(data, **FEW).compare(("x", "near"), ("x", "far"))
    assert found.sentence().startswith("x and near are more closely related than x and far: CKA ")
    assert "picked after looking at all 3 pairs of the matrix it is too small" in str(found)
    turned = reldep.matrix(data, **FEW).compare(("x", "far"), ("x", "near"), alternative="greater")
    assert turned.sentence().startswith(
        "x and far are not shown to be more closely related than x and near"
    )


def test_a_rectangle_has_the_cells_of_the_square(variables):
    names = list(variables)
    rows, columns = ({name: variables[name] for name in half} for half in (names[:2], names[2:]))
    square = reldep.matrix(variables, **FEW).as_correlation()
    rectangle = reldep.matrix(rows, columns, **FEW)
    for pair, value in rectangle.as_correlation().items():
        assert value == pytest.approx(square[pair], rel=1e-12)


def test_the_tree_joins_what_belongs_together(rng):
    x, y = rng.normal(size=(2, 150))
    near = {
        f"{name}{i}": one + 0.2 * rng.normal(size=150)
        for name, one in (("x", x), ("y", y))
        for i in range(2)
    }
    tree = reldep.matrix(near, **FEW).tree(n_draws=200)
    assert set(tree.groups()[:2]) == {("x0", "x1"), ("y0", "y1")}
    assert tree.support.min() > 0.95
    assert list(tree.to_frame().columns) == ["group", "size", "height", "support"]


def test_a_frame_a_mapping_and_an_array_are_one(rng):
    values = rng.normal(size=(40, 3))
    frame = pl.DataFrame(values, schema=["a", "b", "c"])
    tables = [
        reldep.matrix(data, **FEW).to_frame()["estimate"].to_list()
        for data in (frame, values, {name: frame[name] for name in frame.columns})
    ]
    assert tables[0] == tables[1] == tables[2]


def test_copies_of_a_variable_are_drawn_as_one():
    x, noise = np.random.default_rng(0).normal(size=(2, 45))
    # Rounding takes some of their dependences above 1.
    copies = {f"{factor} times": factor * x for factor in (1.5, 2.7, 11, 13.3)}
    answer = reldep.matrix({"x": x, "y": x + noise, **copies}, **FEW)
    assert answer.estimates.max() == pytest.approx(1)
    assert min(answer.tree().to_frame()["height"]) >= 0
    assert "Tree of 6 variables" in answer.to_html()
