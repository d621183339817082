from __future__ import annotations

from types import SimpleNamespace

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


@pytest.fixture(scope="session")
def ranking(triple):
    """Six targets: three equally near, then farther and farther."""
    rng = np.random.default_rng(3)
    noise = {"near a": 0.5, "near b": 0.5, "near c": 0.55, "mid": 1.5, "far": 2.5, "none": 40.0}
    x = triple[0]
    targets = {name: x + s * rng.normal(size=len(x)) for name, s in noise.items()}
    return reldep.rank(x, targets, n_simulations=2000, measure="hsic")


@pytest.fixture(scope="session")
def sensitive():
    """What a sensitivity offers to its picture, with a sign that changes between 0.5 and 1."""
    return SimpleNamespace(
        first="first",
        alternative="greater",
        factors=np.array([0.25, 0.5, 1.0, 2.0]),
        statistics=np.array([-4.0, -2.0, 2.0, 3.0]),
        sign_changes=((0.5, 1.0),),
        comparisons=[SimpleNamespace(df=np.inf)] * 4,
        across=SimpleNamespace(bars=lambda alpha, _: np.full(4, 2.2 if alpha == 0.05 else 3.0)),
        headings=lambda: {"statistic": "z"},
    )
