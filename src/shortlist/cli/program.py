"""The program as a whole; help lists its commands in the order in which they are imported."""

# isort: off
from shortlist.cli import (
    batch,
    running,
    publishing,
    commands,
    watching,
    inspection,
    tracing,
    moving,
)

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
    "tracing",
    "watching",
]


def main() -> None:
    """Runs the program."""
    app()
