"""Dependence given covariates: what they leave unexplained of each variable."""
