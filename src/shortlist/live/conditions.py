"""Record a driver's condition beside its commits, so that others can tell whether it runs."""

from typing import Literal, NamedTuple

from shortlist.live.manifest import Manifest
from shortlist.live.registers import committed
from shortlist.log.base import Log
from shortlist.log.json_register import change_json, read_json
from shortlist.model.times import now

# The register that has it.
CONDITION = "condition"
# Seconds between two signs of life of a driver that commits nothing.
SIGN_SECONDS = 5.0
# Seconds after which a driver without commits and signs counts as gone: longer than the longest
# pause between two attempts of one that fails, and than two signs.
GONE_SECONDS = 15.0

State = Literal["starting", "running", "failing", "stopped"]


class DriverCondition(NamedTuple):
    """State of a driver when it last told it."""

    state: State
    # The number of the last commit at that time: a later one shows that the driver runs.
    commits: int
    # When the driver said so, in microseconds since 1970.
    told: int
    # Why the driver is failing, if it is.
    error: str | None = None


def tell_condition(log: Log, state: State, error: str | None = None) -> None:
    """Say how the driver is, for `standstill`; commits alone are enough while there are some.

    >>> import tempfile
    >>> from shortlist.live.driver import begin
    >>> from shortlist.live.files import Files
    >>> from shortlist.log.sqlite import SqliteLog
    >>> from shortlist.model.registry import Registry
    >>> folder = tempfile.mkdtemp()
    >>> log = SqliteLog(f"{folder}/city.log")
    >>> begin(log, Files(folder), Registry(), 1)
    >>> tell_condition(log, "failing", "no space is left")
    >>> standstill(log, committed(log)[1], now())
    'the deployment fails, and tries again: no space is left'
    >>> tell_condition(log, "running")
    >>> standstill(log, committed(log)[1], now())
    """
    condition = DriverCondition(state, committed(log)[1].number, now(), error)
    change_json(log, CONDITION, lambda _: condition._asdict())


def standstill(log: Log, manifest: Manifest, instant: int) -> str | None:
    """Return why a deployment does not go on, at an instant of this machine's clock; None if its
    driver was heard of lately, and neither fails nor is still starting."""
    if manifest.is_finished:
        return "the input of the deployment has ended: nothing more is read"
    known = read_json(log, CONDITION)
    said = DriverCondition(**known) if known else None
    heard = max(manifest.committed, said.told if said is not None else 0)
    silence = (instant - heard) / 1e6
    if said is not None and said.commits == manifest.number:
        if said.state == "stopped":
            return "the deployment was stopped: start it again with `shortlist up`"
        if said.state == "failing":
            return f"the deployment fails, and tries again: {said.error}"
        if said.state == "starting":
            return f"the deployment has been starting for {max(silence, 0):,.0f} s"
    if silence > GONE_SECONDS:
        return f"nothing was heard of the deployment for {silence:,.0f} s: does it run?"
    return None
