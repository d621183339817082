from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

import reldep

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures_and_check_settings():
    """Every picture leaves matplotlib's settings as they were."""
    import matplotlib.pyplot as plt

    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before


@pytest.fixture(scope="session")
def triple():
    """A source with a nearer and a farther target."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    return x, x + 0.7 * rng.normal(size=80), x + 1.5 * rng.normal(size=80)


@pytest.fixture(scope="session")
def joint(triple):
    return reldep.compare(*triple)


@pytest.fixture(scope="session")
def odd_names(triple):
    """The same comparison with names that try to be formulas, markup or endless."""
    return reldep.compare(*triple, names=["$x_1$", "<script>alert(1)</script>", "long " * 40])


@pytest.fixture(scope="session")
def ranking(triple):
    """Six targets: three equally near, then farther and farther."""
    rng = np.random.default_rng(3)
    noise = {"near a": 0.5, "near b": 0.5, "near c": 0.55, "mid": 1.5, "far": 2.5, "none": 40.0}
    x = triple[0]
    targets = {name: x + s * rng.normal(size=len(x)) for name, s in noise.items()}
    return reldep.rank(x, targets, n_simulations=2000, measure="hsic")


@pytest.fixture
def picture_of():
    """Draw a picture of an answer, by its place or from a section of the report."""
    from matplotlib.figure import Figure

    def drawn(answer, place=0, section=None):
        parts = answer.describe()
        if section is not None:
            parts = next(one for one in parts.sections if one.name == section)
        figure = Figure(layout="constrained")
        ax = parts.pictures[place].draw(figure)
        figure.canvas.draw()
        return ax

    return drawn
