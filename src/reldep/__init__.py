"""Which dependence is stronger? Relative dependence tests built on HSIC."""
