"""The program `shortlist`: a thin layer over the library. Help lists its commands in this order."""

# isort: off
from shortlist.cli import (
    batch,
    overlay,
    running,
    sending,
    commands,
    quarantine,
    watching,
    inspection,
    replaying,
    serving,
)
from shortlist.cli.program import main

__all__ = [
    "batch",
    "commands",
    "inspection",
    "main",
    "overlay",
    "quarantine",
    "replaying",
    "running",
    "sending",
    "serving",
    "watching",
]
