"""What all commands of the program share: options, and how errors end them."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from shortlist.engine.saved import UnusableState
from shortlist.intake.tables import NotATable
from shortlist.log.base import LogUnavailable
from shortlist.model.problem import InvalidRegistry
from shortlist.spark.java import NoUsableJavaError
from shortlist.spark.sources import NoInput

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Relevance-ranked publish/subscribe: everyone gets a shortlist, not everything.",
)
notes = Console(stderr=True)
FINITE, LIVE = "For finite inputs", "For a live deployment"
"""The parts of the help."""
POLL_SECONDS = 0.2
"""How often a log is looked at for news."""

RegistryPath = Annotated[
    Path | None, typer.Argument(help="A registry: a YAML or JSON file, or a folder.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print for machines.")]


@contextmanager
def errors() -> Iterator[None]:
    """What keeps a command from its work: each problem on a line of its own, exit status 2."""
    try:
        yield
    except BrokenPipeError:
        raise  # whoever reads the output has seen enough
    except InvalidRegistry as error:
        fail([str(problem) for problem in error.problems])
    except (
        LogUnavailable,
        NoInput,
        NotATable,
        NoUsableJavaError,
        UnusableState,
        OSError,
    ) as error:
        fail([str(error)])
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark.", "py4j.")):
            raise
        fail([f"Spark could not do it: {_cause(error)}"])


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


def _cause(error: Exception) -> str:
    """The line of Spark's message that says what happened, behind the one that says where."""
    lines = [line for line in str(error).splitlines() if not line.startswith("An error occurred")]
    return lines[0].lstrip(": ") if lines else type(error).__name__
