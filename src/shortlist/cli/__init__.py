"""The program `shortlist`: a thin layer over the library."""

from shortlist.cli.program import main

__all__ = ["main"]
