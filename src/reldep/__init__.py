"""Which dependence is stronger? Relative dependence tests built on HSIC."""

from typing import TYPE_CHECKING

from reldep.naming import imported_when_named
from reldep.version import __version__ as __version__

if TYPE_CHECKING:
    from reldep import datasets as datasets
    from reldep import engine as engine
    from reldep import exceptions as exceptions
    from reldep import kernels as kernels
    from reldep import plotting as plotting
    from reldep.data.lifetimes import Survival as Survival
    from reldep.engine import Blocks as Blocks
    from reldep.engine import Dense as Dense
    from reldep.engine import Features as Features
    from reldep.engine import Influence as Influence
    from reldep.engine import Lines as Lines
    from reldep.engine import Tiled as Tiled
    from reldep.exceptions import ReldepWarning as ReldepWarning
    from reldep.files.read import read as read
    from reldep.files.table import Table as Table
    from reldep.questions.compare import compare as compare
    from reldep.questions.compare import paper_test as paper_test
    from reldep.questions.contrast import contrast as contrast
    from reldep.questions.dependence import cka as cka
    from reldep.questions.dependence import dependence as dependence
    from reldep.questions.dependence import distance_correlation as distance_correlation
    from reldep.questions.dependence import explain_plan as explain_plan
    from reldep.questions.dependence import hsic as hsic
    from reldep.questions.dependence import influence as influence
    from reldep.questions.groups import groups as groups
    from reldep.questions.matrix import matrix as matrix
    from reldep.questions.rank import rank as rank
    from reldep.questions.scan import scan as scan
    from reldep.questions.sensitivity import sensitivity as sensitivity
    from reldep.stats.paper import finite_sample_bound as finite_sample_bound
    from reldep.stats.paper import rotation as rotation

# Where the public names are, as above. Nothing is imported before it is used, so that
# `import reldep` costs next to nothing.
_HOMES = {
    "": "datasets engine exceptions kernels plotting",
    "data.lifetimes": "Survival",
    "engine": "Blocks Dense Features Influence Lines Tiled",
    "exceptions": "ReldepWarning",
    "files.read": "read",
    "files.table": "Table",
    "questions.compare": "compare paper_test",
    "questions.contrast": "contrast",
    "questions.dependence": "cka dependence distance_correlation explain_plan hsic influence",
    "questions.groups": "groups",
    "questions.matrix": "matrix",
    "questions.rank": "rank",
    "questions.scan": "scan",
    "questions.sensitivity": "sensitivity",
    "stats.paper": "finite_sample_bound rotation",
}

__all__ = sorted(" ".join(_HOMES.values()).split())
__getattr__ = imported_when_named(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
