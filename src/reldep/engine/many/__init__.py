"""Thousands of variables, pairs or permutations at once."""
