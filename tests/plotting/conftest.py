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
def split(triple):
    return reldep.compare(*triple, method="split")


@pytest.fixture(scope="session")
def odd_names(triple):
    """The same comparison with names that try to be formulas, markup or endless."""
    return reldep.compare(*triple, names=["$x_1$", "<script>alert(1)</script>", "long " * 40])


@pytest.fixture
def texts_of():
    """Draw the picture for real and list what is written on it."""

    def collect(ax):
        ax.figure.canvas.draw()
        from matplotlib.text import Text

        return [t.get_text() for t in ax.findobj(Text) if t.get_visible() and t.get_text()]

    return collect
