"""What all commands of the program share: where they are, and how errors end them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer
from rich.console import Console

from shortlist.model.problem import ShortlistError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Relevance-ranked publish/subscribe: everyone gets a shortlist, not everything.",
)
notes = Console(stderr=True)
FINITE, LIVE, RESEARCH = "For finite inputs", "For a live deployment", "For research"
"""The parts of the help."""


@contextmanager
def errors() -> Iterator[None]:
    """What keeps a command from its work: each problem on a line of its own, exit status 2."""
    try:
        yield
    except BrokenPipeError:
        raise  # whoever reads the output has seen enough
    except (ShortlistError, OSError) as error:
        fail(str(error).splitlines())
    except Exception as error:
        if not _is_of_spark(error):
            raise
        fail([f"Spark could not do it: {cause_of(error)}"])


def fail(problems: Iterable[str]) -> NoReturn:
    """Ends the program with exit status 2."""
    say(problems)
    raise typer.Exit(2)


def warn(warnings: Iterable[str]) -> None:
    say(f"warning: {warning}" for warning in warnings)


def say(lines: Iterable[str]) -> None:
    """Tells a person, beside what the program prints."""
    for line in lines:
        print(line, file=sys.stderr)


def _is_of_spark(error: BaseException) -> bool:
    return type(error).__module__.startswith(("pyspark.", "py4j."))


def cause_of(error: BaseException) -> str:
    """What happened: of Spark's messages the line behind the one that says where."""
    if not _is_of_spark(error):
        return str(error)
    lines = [line for line in str(error).splitlines() if not line.startswith("An error occurred")]
    return lines[0].lstrip(": ") if lines else type(error).__name__
