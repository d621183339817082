"""Which dependence is stronger? Relative dependence tests built on HSIC."""

from reldep.naming import names_in_stub

__getattr__, __dir__, __all__ = names_in_stub(__name__, __file__)
