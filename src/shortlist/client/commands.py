"""Commands to a deployment: read as they will be read there, sent, and what becomes of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.client.deployment import Awaited, Deployment, rejections
from shortlist.log.base import INPUT, REJECTS, Log
from shortlist.model.problem import Problem, ShortlistError
from shortlist.model.settings import Limits
from shortlist.model.times import format_time

if TYPE_CHECKING:
    from shortlist.intake.roster import Roster
    from shortlist.live.manifest import Manifest
    from shortlist.model.command import Command
    from shortlist.model.vocabulary import Vocabulary


class Order(NamedTuple):
    """A command that has no time yet, and where it comes from; or why it cannot be read."""

    place: str
    verb: str
    content: object = None
    problem: str | None = None

    def line(self, micros: int) -> str:
        document = {"time": format_time(micros), self.verb: self.content}
        return json.dumps(document, ensure_ascii=False)


class BadOrders(ShortlistError):
    """Orders that cannot be read: what is wrong with each, and the problems that have a place."""

    def __init__(self, wrong: Sequence[str], problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(wrong))
        self.problems = tuple(problems)


class Verdict(NamedTuple):
    """What became of one."""

    place: str
    offset: int | None
    """None where a service refused it before."""
    rejected: str | None
    effect: str | None

    def document(self) -> dict[str, Any]:
        return {name: value for name, value in self._asdict().items() if value is not None}


class Sent(NamedTuple):
    """Orders that the log has acknowledged."""

    orders: Sequence[Order]
    offsets: Sequence[int]
    time: int
    rejected_before: int
    """Where the rejects ended before."""

    @property
    def awaited(self) -> Awaited:
        return Awaited(self.offsets[-1], self.time)

    def verdicts(
        self, log: Log, manifest: Manifest, effects: Sequence[str | None] = ()
    ) -> list[Verdict]:
        """What became of each, once the deployment has come to all; with what it was to do."""
        reasons = dict(rejections(log, manifest, {*self.offsets}, self.rejected_before))
        told = zip(self.orders, self.offsets, effects or [None] * len(self.orders), strict=True)
        return [
            Verdict(order.place, offset, reasons.get(offset), effect)
            for order, offset, effect in told
        ]


def sent(log: Log, orders: Sequence[Order], micros: int) -> Sent:
    """Appends some orders, all or none."""
    rejected_before = log.end(REJECTS)
    end = log.append(INPUT, [order.line(micros).encode() for order in orders])
    return Sent(orders, range(end - len(orders) + 1, end + 1), micros, rejected_before)


def checked(
    orders: Iterable[Order], vocabulary: Vocabulary, limits: Limits | None = None
) -> list[Command]:
    """The commands, as they will be read on the other side; `BadOrders` if there is any problem.

    >>> from shortlist.model.vocabulary import Vocabulary
    >>> checked([Order("line 1", "subscribe", {"id": "s", "where": "rent <"})], Vocabulary())
    Traceback (most recent call last):
    shortlist.client.commands.BadOrders: line 1: subscription 's': where: column 7: expected ...
    """
    from shortlist.intake.lines import BadItem, ItemReader
    from shortlist.model.command import Command

    reader = ItemReader(vocabulary, limits, checks_terms=True)
    commands: list[Command] = []
    wrong: list[str] = []
    problems: list[Problem] = []
    for order in orders:
        problem = order.problem
        if problem is None:
            try:
                command = reader.line(order.line(0), position=0)
                assert isinstance(command, Command)
                commands.append(command)
            except BadItem as error:
                problem = str(error)
                problems += error.problems or [Problem(message=problem)]
        if problem is not None:
            wrong.append(f"{order.place}: {problem}")
    if wrong:
        raise BadOrders(wrong, problems)
    return commands


def effects(deployment: Deployment, commands: Sequence[Command]) -> list[str | None]:
    """What each command will do to what shortlists hold; None where there is nothing to say."""
    from shortlist.model.command import Define, Update

    is_said = any(isinstance(command, Update | Define) for command in commands)
    roster = deployment.roster() if is_said else None
    if roster is None:
        return [None] * len(commands)
    said = []
    for command in commands:
        said.append(effect(roster, command))
        if roster.refusal(command) is None:
            roster.apply(command)
    return said


def effect(roster: Roster, command: Command) -> str | None:
    """What a command will do to what a shortlist holds, and defined terms to who asks for them;
    None where there is nothing to say."""
    from shortlist.model.command import Define, Update
    from shortlist.model.policy_changes import outcome

    if not isinstance(command, Update | Define) or roster.refusal(command) is not None:
        return None
    if isinstance(command, Define):
        users = roster.concerned(command)
        return _who_changes(len(users.subscriptions), len(users.advertisements))
    name = roster.shortlist_of(command)
    assert name is not None
    before, made = roster.shortlists[name], roster.updated(command)
    after = made.shortlist or before
    return f"shortlist {name!r} {outcome(before.policy, after.policy)}"


def _who_changes(subscriptions: int, advertisements: int) -> str:
    """
    >>> _who_changes(2, 1)
    '2 subscriptions and 1 advertisement change their meaning, from the next publication on'
    >>> _who_changes(1, 0)
    '1 subscription changes its meaning, from the next publication on'
    """
    counts = {"subscription": subscriptions, "advertisement": advertisements}
    said = [f"{count:,} {kind}{'s' * (count > 1)}" for kind, count in counts.items() if count]
    if not said:
        return "nobody changes its meaning"
    verb = "changes its" if subscriptions + advertisements == 1 else "change their"
    return f"{' and '.join(said)} {verb} meaning, from the next publication on"
