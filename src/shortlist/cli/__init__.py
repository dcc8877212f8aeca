"""The program `shortlist`: a thin layer over the library. Help lists its commands in this order."""

# isort: off
from shortlist.cli import (
    batch,
    compiling,
    overlay,
    running,
    sites,
    sending,
    commands,
    registry,
    quarantine,
    watching,
    inspection,
    replaying,
    serving,
    logins,
    research,
)
from shortlist.cli.program import main

__all__ = [
    "batch",
    "commands",
    "compiling",
    "inspection",
    "logins",
    "main",
    "overlay",
    "quarantine",
    "registry",
    "replaying",
    "research",
    "running",
    "sending",
    "serving",
    "sites",
    "watching",
]
