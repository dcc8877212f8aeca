"""The program as a whole: all its commands, in the order in which help lists them."""

# isort: off
from shortlist.cli import batch, running, publishing, commands, watching, showing
from shortlist.cli import inspection, tracing, moving

# isort: on
from shortlist.cli.app import app

__all__ = [
    "batch",
    "commands",
    "inspection",
    "main",
    "moving",
    "publishing",
    "running",
    "showing",
    "tracing",
    "watching",
]


def main() -> None:
    """Runs the program."""
    app()
