"""Kernels: how alike two observations of one variable are.

A kernel is imported when it is first named (the stub lists all of them), and packages
that only some kernels need (scikit-learn, rapidfuzz, tslearn, ...) when such a kernel is fitted.
"""

from reldep.naming import names_in_stub

__getattr__, __dir__, __all__ = names_in_stub(__name__, __file__)
