"""Options that several commands have, and what they come to."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from shortlist.model.durations import duration_micros
from shortlist.model.settings import Advertising, Limits, PlanSetting, Settings, TimeBasis

if TYPE_CHECKING:
    from shortlist.jobs.job import Ground

OFF = "off"
"""In place of an address or a duration."""

RegistryPath = Annotated[
    Path | None, typer.Argument(help="A registry: a YAML or JSON file, or a folder.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print for machines.")]
Quiet = Annotated[bool, typer.Option(help="Show no progress.")]
Master = Annotated[str | None, typer.Option(help="A Spark master; else this machine.")]
WithData = Annotated[bool, typer.Option(help="Deliveries carry the publication's data.")]
WithInput = Annotated[
    bool,
    typer.Option(
        help="For a program that starts it: stop when standard input ends, and say on standard"
        " output, in JSON, where metrics are shown."
    ),
]
LOG_OPTION = typer.Option(
    "--log", envvar="SHORTLIST_LOG", help="sqlite:PATH or nats://HOST:PORT/NAME."
)
LogUrl = Annotated[str, LOG_OPTION]
LogOrNone = Annotated[str | None, LOG_OPTION]
ServiceUrl = Annotated[
    str | None,
    typer.Option(
        "--service",
        envvar="SHORTLIST_SERVICE",
        help="The URL of a service, in place of --log; else that of `shortlist login`.",
    ),
]
FilePaths = Annotated[
    list[Path] | None, typer.Argument(help="JSON lines; standard input if there is none, or for -.")
]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until it is carried out or rejected.")]
Patience = Annotated[float, typer.Option(min=0, help="Seconds to wait at most.")]
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
DEDUP = typer.Option(help="How long a publication id is remembered.")
Dedup = Annotated[str, DEDUP]
Place = Literal["spark", "process"]
On = Annotated[
    Place, typer.Option(help="`process` needs no JVM: for what one machine can do, at once.")
]
ADVERTISED = typer.Option(help="`required` rejects publications without one.")
Advertised = Annotated[Advertising, ADVERTISED]
LimitFlags = Annotated[
    list[str] | None,
    typer.Option("--limit", help="NAME=NUMBER, for " + ", ".join(f.name for f in fields(Limits))),
]


@dataclass(frozen=True, kw_only=True)
class DeploymentOptions:
    """The options that say how a deployment runs: `up` has them, and `serve` hands them on to it.

    A command gets them by `with_deployment_options`.
    """

    state: Annotated[
        Path | None, typer.Option(help="Where its state goes; else beside a log in a file.")
    ] = None
    basis: LiveTime = None
    lateness: LiveLateness = None
    ahead: LiveAhead = None
    dedup: Dedup = "24h"
    advertised: Advertised = "optional"
    limit: LimitFlags = None
    shards: Annotated[
        int | None, typer.Option(min=1, max=256, help="How many tasks select; else one per core.")
    ] = None
    plan: Annotated[
        PlanSetting, typer.Option(help="replicate, broadcast, rendezvous, or auto.")
    ] = "auto"
    with_data: WithData = False
    changes: Annotated[
        bool, typer.Option(help="Also tell what leaves shortlists (`watch --changes`).")
    ] = False
    at_most: Annotated[int, typer.Option(min=1, help="Lines in a micro-batch.")] = 50_000
    logs: Annotated[Path | None, typer.Option(help="Structured logs go to this file.")] = None
    master: Master = None
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=256, help="With --on process: how many others; else one per core."),
    ] = None

    def arguments(self) -> list[str]:
        """Return the words of a command line that mean these options.

        >>> DeploymentOptions(shards=2, changes=True, basis="event").arguments()
        ['--time', 'event', '--shards', '2', '--changes']
        """
        return [word for field in fields(self) for word in self._words(field.name, field.default)]

    def _words(self, name: str, default: object) -> Iterator[str]:
        value, flag = getattr(self, name), _flag(name)
        if value == default:
            return
        if value is True:
            yield flag
            return
        for each in value if isinstance(value, list) else [value]:
            yield from (flag, str(each))


def _flag(name: str) -> str:
    """Return how an option of a deployment is written on the command line."""
    hint = get_type_hints(DeploymentOptions, include_extras=True)[name]
    (option,) = hint.__metadata__
    # where an option stands in `Annotated`, typer takes its first argument for its name
    return option.default if isinstance(option.default, str) else f"--{name.replace('_', '-')}"


def with_deployment_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the fields of `DeploymentOptions` as options of its own, in place of its
    parameter `deployment`."""
    hints = get_type_hints(DeploymentOptions, include_extras=True)
    own = inspect.signature(command, eval_str=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    options = [
        inspect.Parameter(each.name, keyword, default=each.default, annotation=hints[each.name])
        for each in fields(DeploymentOptions)
    ]

    @functools.wraps(command)
    def called(*arguments: Any, **named: Any) -> None:
        deployment = DeploymentOptions(**{each.name: named.pop(each.name) for each in options})
        command(*arguments, deployment=deployment, **named)

    parameters = [
        each
        for parameter in own.parameters.values()
        for each in (options if parameter.name == "deployment" else [parameter])
    ]
    called.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": None}
    return called


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
    far = None if ahead == OFF else checked_duration("--ahead", ahead or "1m")
    return replace(settings, ahead=far)


def settings_of(
    lateness: str | None, dedup: str, advertised: Advertising, limits: list[str] | None
) -> Settings:
    return Settings(
        lateness=None if lateness is None else checked_duration("--lateness", lateness),
        dedup=checked_duration("--dedup", dedup),
        advertised=advertised,
        limits=limits_of(limits),
    )


def limits_of(texts: list[str] | None, default: Limits | None = None) -> Limits:
    named: dict[str, Any] = {}
    known = [field.name for field in fields(Limits)]
    for text in texts or ():
        name, _, number = text.partition("=")
        if name not in known or not number.isdecimal() or int(number) < 1:
            raise typer.BadParameter(
                f"--limit: expected NAME=NUMBER, NAME one of {', '.join(known)}; found {text!r}"
            )
        named[name] = int(number)
    try:
        return replace(default or Limits(), **named)
    except ValueError as error:
        raise typer.BadParameter(f"--limit: {error}") from None


def duration_of(flag: str, text: str) -> int:
    """Return the microseconds of a flag's duration."""
    try:
        return duration_micros(text)
    except ValueError as error:
        raise typer.BadParameter(f"{flag}: {error}") from None


def checked_duration(flag: str, text: str) -> str:
    """Return the text that a flag has, if it is a duration: the message names the flag."""
    duration_of(flag, text)
    return text


def ground_of(on: Place, master: str | None = None) -> Ground:
    """Only what is asked for is imported."""
    if on == "process":
        from shortlist.jobs.process import InProcess

        return InProcess()
    from shortlist.spark.job import OnSpark

    return OnSpark(master)
