"""Readers of corpora that users bring, and the tools that made the data that ship."""
