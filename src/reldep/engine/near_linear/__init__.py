"""Engines that do not look at every pair: features, low rank, and sums along a line."""
