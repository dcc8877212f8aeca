"""Commands between publications, which cut these for the shortlists that they concern and no other.

Shortlists do not know each other. So publications come together to every shortlist, up to its first
command; then these commands are carried out, and publications come to the shortlists concerned, up
to their second commands; and so on. However many commands there are, rounds are few.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from shortlist.engine.steps import BLOCK, CommandReader
from shortlist.intake.roster import Roster
from shortlist.model.command import Command, Subscribe, Unsubscribe, Update
from shortlist.model.items import COMMAND, Bools, Items
from shortlist.scoring.combined import Combined

Span = tuple[int, int]
"""From one publication to before another, by place."""


class Turn(NamedTuple):
    """A command of a shortlist, and the publications that come to that until its next command."""

    command: Command
    shortlist: str
    first: int
    end: int


@dataclass(slots=True)
class Stretch:
    """Publications, and the commands between them, each of which concerns one shortlist."""

    publications: Items
    places: dict[str, list[tuple[int, Command]]] = field(default_factory=dict)
    """By shortlist, its commands, each with how many of the publications come before it."""

    def rounds(self) -> Iterator[list[Turn]]:
        """The first commands of all shortlists in order, then the second ones, and so on."""
        size, left = len(self.publications), {**self.places}
        number = 0
        while left:
            turns = []
            for shortlist, commands in left.items():
                first, command = commands[number]
                end = commands[number + 1][0] if number + 1 < len(commands) else size
                turns.append(Turn(command, shortlist, first, end))
            yield sorted(turns, key=lambda turn: (turn.command.time, turn.command.position))
            number += 1
            left = {name: some for name, some in left.items() if len(some) > number}


class Stretches:
    """Cuts items where something concerns more than one shortlist.

    >>> from shortlist.intake.lines import ItemReader
    >>> from shortlist.intake.reading import items_of
    >>> from shortlist.model.items import Wanted
    >>> from shortlist.model.publication import Publication
    >>> from shortlist.model.subscription import Subscription
    >>> from shortlist.model.vocabulary import Vocabulary
    >>> news = [Publication(id=f"n{n}", source="s", time=n, position=n) for n in range(4)]
    >>> news[2] = Subscribe(subscription=Subscription(id="all"), time=2, position=2)
    >>> items, known = items_of(news, Wanted())
    >>> reader = CommandReader(ItemReader(Vocabulary()), known)
    >>> (stretch,) = Stretches(Roster()).of(items, reader)
    >>> len(stretch.publications), [(turn.first, turn.end) for turn in next(stretch.rounds())]
    (3, [(2, 3)])
    """

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._homes: dict[str, str] = {}
        """Of subscriptions that commands of the present stretch name, the shortlists."""

    def of(self, items: Items, commands: CommandReader) -> Iterator[Stretch | Command]:
        """One after the other: each is carried out before the next one is asked for."""
        told = commands.among(items)
        start, gathered = 0, list[tuple[int, str, Command]]()
        is_command = items.kinds == COMMAND
        for at in [*np.flatnonzero(is_command | _is_apart(items)).tolist(), len(items)]:
            while (end := start + len(gathered) + BLOCK) < at:
                yield self._stretch(items.between(start, end), gathered)
                start, gathered = end, []
            if at == len(items) or not is_command[at]:
                yield self._stretch(items.between(start, at), gathered)
                start, gathered = at, []
                if at < len(items):
                    yield self._stretch(items.between(at, at + 1), [])
                    start = at + 1
                continue
            command = next(told)
            shortlist = self._concerned(command)
            if shortlist is None or self._moves(command, shortlist):
                yield self._stretch(items.between(start, at), gathered)
                start, gathered = at, []
                shortlist = self._concerned(command)
            if shortlist is None:
                yield command
                start = at + 1
            else:
                gathered.append((at - start - len(gathered), shortlist, command))
                if isinstance(command, Subscribe):
                    self._homes[command.subscription.id] = shortlist

    def _stretch(self, items: Items, gathered: list[tuple[int, str, Command]]) -> Stretch:
        self._homes.clear()
        stretch = Stretch(items.kept(items.kinds != COMMAND))
        for place, shortlist, command in gathered:
            stretch.places.setdefault(shortlist, []).append((place, command))
        return stretch

    def _concerned(self, command: Command) -> str | None:
        """The one shortlist that a command touches, once those before it are carried out."""
        match command:
            case Unsubscribe(subscription=name) | Update(kind="subscription", id=name):
                if name in self._homes:
                    return self._homes[name]
        return self._roster.shortlist_of(command)

    def _moves(self, command: Command, shortlist: str) -> bool:
        """Whether a subscription has another shortlist before."""
        if not isinstance(command, Subscribe):
            return False
        name = command.subscription.id
        live = self._roster.subscriptions
        home = self._homes.get(name) or (live[name].shortlist_id if name in live else shortlist)
        return home != command.subscription.shortlist_id


def _is_apart(items: Items) -> Bools:
    """Publications that take others back, or are dead: they matter to every shortlist."""
    return np.asarray(items.batch.column("replaces").is_valid()) | items.is_dead


def between(
    combined: Combined, spans: Mapping[int, Span], shortlists: int, others: int | None = None
) -> Combined:
    """Candidates among the publications from one to another, by number of a shortlist; of all
    other shortlists so many of the first ones, or all."""
    starts = np.zeros(shortlists, np.int32)
    ends = np.full(shortlists, 2**31 - 1 if others is None else others, np.int32)
    numbers = np.fromiter(spans, np.int64, len(spans))
    starts[numbers], ends[numbers] = zip(*spans.values(), strict=True) if spans else ((), ())
    who, when = combined.shortlists, combined.publications
    return combined.kept((when >= starts[who]) & (when < ends[who]))
