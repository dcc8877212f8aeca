"""The program `shortlist`: a thin layer over the library. Help lists its commands in this order."""

# isort: off
from shortlist.cli import batch, overlay, running, sending, commands, watching, inspection
from shortlist.cli.app import app as main

__all__ = ["batch", "commands", "inspection", "main", "overlay", "running", "sending", "watching"]
