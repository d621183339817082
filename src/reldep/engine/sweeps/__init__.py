"""Sweeps over all pairs of observations: exact for every kernel, in little memory."""
