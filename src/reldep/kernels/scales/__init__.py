"""Scales: bandwidths that the data choose, and how they move with every observation."""
