"""Kernels for data that are not rows of numbers: texts, graphs, series, sets, lifetimes."""
