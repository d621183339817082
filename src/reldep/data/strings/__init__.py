"""Strings as numbers, dates or labels."""
