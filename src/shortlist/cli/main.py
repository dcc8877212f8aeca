"""The program as a whole."""

from shortlist.cli import batch, inspection
from shortlist.cli.app import app

__all__ = ["app", "batch", "inspection", "main"]


def main() -> None:
    """Runs the program."""
    app()
