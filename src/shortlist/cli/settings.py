"""The settings of a run as flags."""

import re
from dataclasses import fields
from typing import Annotated, get_args

import typer

from shortlist.live.plans import PlanSetting
from shortlist.model.durations import parse_duration
from shortlist.model.settings import Limits, Settings

Lateness = Annotated[
    str | None,
    typer.Option(help="Reject what is later than this, e.g. 10s or 0; else nothing is late."),
]
StreamLateness = Annotated[str, typer.Option(help="Wait so long for what comes late, e.g. 10s.")]
Dedup = Annotated[str, typer.Option(help="How long a publication id is remembered.")]
Advertised = Annotated[str, typer.Option(help="`required` rejects publications without one.")]
LimitFlags = Annotated[
    list[str] | None,
    typer.Option("--limit", help="NAME=NUMBER, for " + ", ".join(f.name for f in fields(Limits))),
]


def settings_of(
    lateness: str | None, dedup: str, advertised: str, limits: list[str] | None
) -> Settings:
    if advertised not in ("optional", "required"):
        raise typer.BadParameter(
            f"--advertised: expected optional or required, found {advertised!r}"
        )
    return Settings(
        lateness=None if lateness is None else duration_of("--lateness", lateness),
        dedup=duration_of("--dedup", dedup),
        advertised="required" if advertised == "required" else "optional",
        limits=limits_of(limits),
    )


def plan_of(text: str) -> PlanSetting:
    """A plan by name.

    >>> plan_of("auto")
    'auto'
    """
    known: dict[str, PlanSetting] = {name: name for name in get_args(PlanSetting)}
    if text not in known:
        raise typer.BadParameter(f"--plan: expected one of {', '.join(known)}, found {text!r}")
    return known[text]


def limits_of(texts: list[str] | None) -> Limits:
    return Limits(**dict(_limit(text) for text in texts or ()))


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
