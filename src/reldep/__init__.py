"""Which dependence is stronger? Relative dependence tests built on HSIC."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reldep.naming import imported_when_named
from reldep.version import __version__ as __version__

if TYPE_CHECKING:
    from reldep import datasets, engine, exceptions, kernels, plotting
    from reldep.data.lifetimes import Survival
    from reldep.engine import Blocks, Dense, Features, Influence, Lines, Tiled
    from reldep.exceptions import ReldepWarning
    from reldep.files.read import read
    from reldep.files.table import Table
    from reldep.questions.compare import compare, paper_test
    from reldep.questions.contrast import contrast
    from reldep.questions.dependence import (
        cka,
        dependence,
        distance_correlation,
        hsic,
        influence,
    )
    from reldep.questions.groups import groups
    from reldep.questions.matrix import matrix
    from reldep.questions.plan import explain_plan
    from reldep.questions.rank import rank
    from reldep.questions.scan import scan
    from reldep.questions.sensitivity import sensitivity
    from reldep.stats.paper import finite_sample_bound, rotation


# Where each public name lives. Nothing is imported before it is used, so that
# `import reldep` costs next to nothing.
_HOMES = {
    "Blocks": "reldep.engine",
    "Dense": "reldep.engine",
    "Features": "reldep.engine",
    "Influence": "reldep.engine",
    "Lines": "reldep.engine",
    "ReldepWarning": "reldep.exceptions",
    "Survival": "reldep.data.lifetimes",
    "Table": "reldep.files.table",
    "Tiled": "reldep.engine",
    "cka": "reldep.questions.dependence",
    "compare": "reldep.questions.compare",
    "contrast": "reldep.questions.contrast",
    "datasets": "reldep.datasets",
    "dependence": "reldep.questions.dependence",
    "distance_correlation": "reldep.questions.dependence",
    "engine": "reldep.engine",
    "exceptions": "reldep.exceptions",
    "explain_plan": "reldep.questions.plan",
    "finite_sample_bound": "reldep.stats.paper",
    "groups": "reldep.questions.groups",
    "hsic": "reldep.questions.dependence",
    "influence": "reldep.questions.dependence",
    "kernels": "reldep.kernels",
    "matrix": "reldep.questions.matrix",
    "paper_test": "reldep.questions.compare",
    "plotting": "reldep.plotting",
    "rank": "reldep.questions.rank",
    "read": "reldep.files.read",
    "rotation": "reldep.stats.paper",
    "scan": "reldep.questions.scan",
    "sensitivity": "reldep.questions.sensitivity",
}

__all__ = [
    "Blocks",
    "Dense",
    "Features",
    "Influence",
    "Lines",
    "ReldepWarning",
    "Survival",
    "Table",
    "Tiled",
    "cka",
    "compare",
    "contrast",
    "datasets",
    "dependence",
    "distance_correlation",
    "engine",
    "exceptions",
    "explain_plan",
    "finite_sample_bound",
    "groups",
    "hsic",
    "influence",
    "kernels",
    "matrix",
    "paper_test",
    "plotting",
    "rank",
    "read",
    "rotation",
    "scan",
    "sensitivity",
]


__getattr__ = imported_when_named(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
