"""The program as a whole: all its commands, in the order in which help lists them."""

from shortlist.cli import batch, running, publishing, commands, watching, inspection, tracing, moving  # isort: skip # noqa: E501
from shortlist.cli.app import app

__all__ = ["batch", "commands", "inspection", "main", "publishing", "tracing", "watching"]


def main() -> None:
    """Runs the program."""
    app()
