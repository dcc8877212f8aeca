"""The program `shortlist`: a thin layer over the library."""

from importlib import import_module

from shortlist.cli.app import main

__all__ = ["main"]

COMMANDS = (
    "batch compiling overlay running sites sending commands registry watching"
    " inspection replaying serving research"
)
"""The modules that have them, in the order in which help lists them."""

for _module in COMMANDS.split():
    import_module(f"shortlist.cli.{_module}")
