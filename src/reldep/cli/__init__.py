"""The command line."""

from reldep.cli.app import main

__all__ = ["main"]
