"""What all commands of the program share: options, settings as flags, and how errors end them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer
from rich.console import Console

from shortlist.model.durations import parse_duration
from shortlist.model.problem import ShortlistError
from shortlist.model.settings import Limits, Settings, TimeBasis

if TYPE_CHECKING:
    from shortlist.jobs.job import Ground


app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Relevance-ranked publish/subscribe: everyone gets a shortlist, not everything.",
)
notes = Console(stderr=True)
FINITE, LIVE, RESEARCH = "For finite inputs", "For a live deployment", "For research"
"""The parts of the help."""
OFF = "off"
"""In place of an address or a duration."""

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


Lateness = Annotated[
    str | None,
    typer.Option(help="Reject what is later than this, e.g. 10s or 0; else nothing is late."),
]
LiveTime = Annotated[
    TimeBasis | None,
    typer.Option(
        "--time",
        help="Items are of the time at which the log took them, or of what they say; kept from the"
        " first start on, `arrival` if nothing is said.",
    ),
]
LiveLateness = Annotated[
    str | None,
    typer.Option(help="With --time event: wait so long for what comes late; else 10s."),
]
LiveAhead = Annotated[
    str | None,
    typer.Option(
        help="With --time event: reject what is further ahead of the log's clock, or off; else 1m."
    ),
]
Dedup = Annotated[str, typer.Option(help="How long a publication id is remembered.")]
Place = Literal["spark", "process"]
On = Annotated[
    Place, typer.Option(help="`process` needs no JVM: for what one machine can do, at once.")
]
Advertising = Literal["optional", "required"]
Advertised = Annotated[
    Advertising, typer.Option(help="`required` rejects publications without one.")
]
LimitFlags = Annotated[
    list[str] | None,
    typer.Option("--limit", help="NAME=NUMBER, for " + ", ".join(f.name for f in fields(Limits))),
]


def check_address(metrics: str) -> None:
    """Whether metrics can be shown there."""
    if metrics != OFF and not re.fullmatch(r".+:\d+", metrics):
        raise typer.BadParameter(f"--metrics: expected HOST:PORT or off, found {metrics!r}")


def check_place(on: Place, master: str | None) -> None:
    if on == "process" and master is not None:
        raise typer.BadParameter(f"--master: expected --on spark with it, found --on {on}")


def live_settings(
    basis: TimeBasis,
    lateness: str | None,
    ahead: str | None,
    dedup: str,
    advertised: Advertising,
    limits: list[str] | None,
) -> Settings:
    """Of a deployment, whose time basis is known."""
    if basis == "arrival":
        for flag, given in (("--lateness", lateness), ("--ahead", ahead)):
            if given is not None:
                raise typer.BadParameter(
                    f"{flag}: expected --time event, found --time arrival, by which nothing is late"
                    " or ahead"
                )
        return replace(settings_of(None, dedup, advertised, limits), time="arrival")
    settings = settings_of(lateness or "10s", dedup, advertised, limits)
    far = None if ahead == OFF else duration_of("--ahead", ahead or "1m")
    return replace(settings, ahead=far)


def settings_of(
    lateness: str | None, dedup: str, advertised: Advertising, limits: list[str] | None
) -> Settings:
    return Settings(
        lateness=None if lateness is None else duration_of("--lateness", lateness),
        dedup=duration_of("--dedup", dedup),
        advertised=advertised,
        limits=limits_of(limits),
    )


def limits_of(texts: list[str] | None, default: Limits | None = None) -> Limits:
    named: dict[str, Any] = dict(_limit(text) for text in texts or ())
    try:
        return replace(default or Limits(), **named)
    except ValueError as error:
        raise typer.BadParameter(f"--limit: {error}") from None


def duration_of(flag: str, text: str) -> int:
    if re.fullmatch(r"0(ms|s|m|h|d)?|PT0S", text):
        return 0
    try:
        return parse_duration(text)
    except ValueError as error:
        raise typer.BadParameter(f"{flag}: {error}") from None


def _limit(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    known = [field.name for field in fields(Limits)]
    if name not in known or not number.isdecimal() or int(number) < 1:
        raise typer.BadParameter(
            f"--limit: expected NAME=NUMBER, NAME one of {', '.join(known)}; found {text!r}"
        )
    return name, int(number)


def ground_of(on: Place, master: str | None = None) -> Ground:
    """Only what is asked for is imported."""
    if on == "process":
        from shortlist.jobs.process import InProcess

        return InProcess()
    from shortlist.spark.job import OnSpark

    return OnSpark(master)
