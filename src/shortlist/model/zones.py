"""Zones of the tz database, as the package `tzdata` has them: never those of the system, so that
answers depend on that package's version alone."""

from functools import cache
from importlib import resources
from importlib.metadata import version
from zoneinfo import ZoneInfo


@cache
def database_version() -> str:
    """The version of the tz database, as the package says it."""
    return version("tzdata")


@cache
def zone_names() -> frozenset[str]:
    """Every name that the database has.

    >>> "Europe/Oslo" in zone_names(), "Europe/Asgard" in zone_names()
    (True, False)
    """
    listed = resources.files("tzdata").joinpath("zones").read_text(encoding="utf-8")
    return frozenset(listed.split())


@cache
def zone_of(name: str) -> ZoneInfo:
    """The zone with a name that the database has.

    >>> from datetime import datetime
    >>> str(datetime(2026, 7, 1, tzinfo=zone_of("Europe/Oslo")).utcoffset())
    '2:00:00'
    """
    if name not in zone_names():
        raise ValueError(f"{name!r} is not a zone of the tz database")
    file = resources.files("tzdata").joinpath("zoneinfo", *name.split("/"))
    with file.open("rb") as content:
        return ZoneInfo.from_file(content, key=name)
