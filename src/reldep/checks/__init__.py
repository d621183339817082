"""Checks: what a reader should know before believing an answer."""
