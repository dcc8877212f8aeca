"""Any policy for many shortlists: a plain selector for each, whose state is kept in arenas."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from shortlist.matching.blocks import Longs
from shortlist.model.policy import SinglePolicy
from shortlist.model.publication import Publication
from shortlist.scoring.match_sets import ALONE, MatchSets
from shortlist.selection.bank.arena import Arena
from shortlist.selection.bank.base import Bank
from shortlist.selection.bank.offers import NEVER, NO_PLACEMENTS, Offers, Placements
from shortlist.selection.bank.shown import NO_CONTENTS, Contents
from shortlist.selection.bank.world import World
from shortlist.selection.base import Placement, Selector
from shortlist.selection.kernels.arena import Records
from shortlist.selection.policies import policy_selector
from shortlist.selection.records import numbered, restored

HEAD = [("next_due", "i8"), ("matches", "i8")]
"""What others want to know without asking a selector."""
Key = tuple[int, int, str, str]
_Row = tuple[Any, ...]


class _Known(NamedTuple):
    """A publication that a selector may hold."""

    number: int
    matched: int
    """The number of the set of matches that it carries through a chain, or `ALONE`."""


class _Seat(NamedTuple):
    """A selector, and what it may place or show."""

    shortlist: str
    selector: Selector
    known: dict[Key, _Known]


class PlainBank(Bank):
    """As selectors, since it is made of them; so it runs any policy, at a selector's pace.

    Arenas have the last word: a selector is made from what they hold when it is first needed, and
    written back before anybody looks at them.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._held = Arena(HEAD, [("publication", "i4"), ("matched", "i4")])
        """The publications that occur in states, in the order of their numbers there."""
        self._texts = Arena([], [("byte", "u1")])
        """States as JSON; of a shortlist that has seen nothing, no byte."""
        self._settings: dict[int, tuple[str, SinglePolicy]] = {}
        self._seats: dict[int, _Seat] = {}
        self._changed: set[int] = set()

    @property
    def arenas(self) -> Sequence[Arena]:
        for place in sorted(self._changed):
            self._write(place, self._seats[place])
        self._changed.clear()
        self._seats.clear()
        return [self._held, self._texts]

    def open_all(self, shortlists: Sequence[str], policy: SinglePolicy) -> Longs:
        places = self._held.open_all(len(shortlists), next_due=NEVER)
        self._texts.reserve(int(places.max()))
        for place, shortlist in zip(places.tolist(), shortlists, strict=True):
            self._settings[place] = shortlist, policy
        return places

    def arrive(self, offers: Offers, sets: MatchSets) -> Placements:
        # only those of chains are there later on
        kept = offers.matched if self._world.sets.are(sets) else np.full_like(offers.matched, ALONE)
        rows: list[_Row] = []
        columns = offers.places, offers.times, offers.publications, kept
        degrees = offers.possibilities, offers.necessities
        found = offers.scores, offers.named, *degrees, offers.matched
        for at, (place, time, number, matched) in enumerate(
            zip(*(column.tolist() for column in columns), strict=True)
        ):
            seat = self._seat(place)
            told = (column[at].item() for column in found)
            candidate = self._world.candidate(seat.shortlist, sets, number, *told)
            seat.known[_key(candidate.publication)] = _Known(number, matched)
            rows += self._placed(place, seat, seat.selector.arrive(candidate, time).placements)
        for place in np.unique(offers.places).tolist():
            self._note(place)
        return _columns(rows)

    def advance(self, before: int) -> Placements:
        heads = self._held.heads
        due = np.flatnonzero((heads["is_open"] == 1) & (heads["next_due"] < before))
        return self._told(due, due, lambda selector, _: selector.advance(before))

    def settle(self, places: Longs, times: Longs) -> Placements:
        return self._told(places, times, lambda selector, time: selector.settle(time))

    def retract(self, publication: int, time: int) -> Placements:
        known = self._world.publications[publication]
        heads = self.arenas[0].heads
        is_concerned = (heads["is_open"] == 1) & (heads["next_due"] <= time)
        is_concerned[self._held.holders("publication", publication)] = True
        places = np.flatnonzero(is_concerned)
        who = known.source, known.id
        return self._told(places, places, lambda selector, _: selector.retract(*who, time))

    def change(self, places: Longs, policy: SinglePolicy, times: Longs) -> Placements:
        for place in places.tolist():
            shortlist, _ = self._settings[place]
            self._settings[place] = shortlist, policy
        return self._told(places, times, lambda selector, time: selector.change(policy, time))

    def cancel(self, place: int, subscription: int, time: int) -> Placements:
        name = self._world.subscriptions.name(subscription)
        here = np.array([place])
        return self._told(here, here, lambda selector, _: selector.cancel(name, time))

    def close(self, places: Longs, times: Longs) -> Placements:
        placements = self.settle(places, times)
        self._held.close_all(places)
        self._texts.vacate_all(places)
        for place in places.tolist():
            del self._settings[place], self._seats[place]
            self._changed.remove(place)
        return placements

    def shown(self, places: Longs, now: int) -> Contents:
        rows = [
            row for place in places.tolist() for row in self._on_show(place, self._seat(place), now)
        ]
        return Contents._make(_filled(NO_CONTENTS, rows))

    def state(self, place: int) -> Any:
        """What the selector of a place holds."""
        return self._seat(place).selector.state()

    def _told(
        self, places: Longs, times: Longs, tell: Callable[[Selector, int], list[Placement]]
    ) -> Placements:
        """What shortlists place when their selectors are told something, each with an instant."""
        rows: list[_Row] = []
        for place, time in zip(places.tolist(), times.tolist(), strict=True):
            seat = self._seat(place)
            rows += self._placed(place, seat, tell(seat.selector, time))
            self._note(place)
        return _columns(rows)

    def _note(self, place: int) -> None:
        """A selector may be another than that which was written."""
        heads, selector = self._held.heads, self._seat(place).selector
        due = selector.next_due()
        heads["next_due"][place] = NEVER if due is None else due
        heads["matches"][place] = selector.matches()
        self._changed.add(place)

    def _seat(self, place: int) -> _Seat:
        if place not in self._seats:
            self._seats[place] = self._read(place)
        return self._seats[place]

    def _read(self, place: int) -> _Seat:
        shortlist, policy = self._settings[place]
        rows, text = self._held.rows_of(place), self._texts.rows_of(place)["byte"].tobytes()
        selector = policy_selector(policy, shortlist)
        held = [self._world.publications[number] for number in rows["publication"].tolist()]
        if text:
            selector.restore(restored(json.loads(text), held.__getitem__))
        facts = map(_Known, rows["publication"].tolist(), rows["matched"].tolist())
        return _Seat(shortlist, selector, dict(zip(map(_key, held), facts, strict=True)))

    def _write(self, place: int, seat: _Seat) -> None:
        numbers: dict[Key, int] = {}

        def number(publication: Publication) -> int:
            return numbers.setdefault(_key(publication), len(numbers))

        text = json.dumps(numbered(seat.selector.state(), number)).encode()
        held = [tuple(seat.known[key]) for key in numbers]
        self._held.put(place, np.array(held, self._held.rows.dtype))
        self._texts.put(place, np.frombuffer(text, self._texts.rows.dtype))

    def _placed(self, place: int, seat: _Seat, placements: Iterable[Placement]) -> Iterator[_Row]:
        for placed in placements:
            publication = seat.known[_key(placed.candidate.publication)]
            yield (
                place,
                placed.time,
                publication.number,
                placed.score,
                self._world.subscriptions.number(placed.named.subscription),
                placed.named.possibility,
                placed.named.necessity,
                placed.rank or 0,
                placed.cause == "promotion",
                publication.matched,
            )

    def _on_show(self, place: int, seat: _Seat, now: int) -> Iterator[_Row]:
        for one in seat.selector.shown(now):
            name = one.subscription
            yield (
                place,
                seat.known[_key(one.publication)].number,
                one.score,
                -1 if name is None else self._world.subscriptions.number(name),
                np.nan if one.possibility is None else one.possibility,
                np.nan if one.necessity is None else one.necessity,
                one.rank,
                NEVER if one.until is None else one.until,
                NEVER if one.push is None else one.push,
                one.in_window,
                one.waiting,
            )


def _key(publication: Publication) -> Key:
    """What tells publications apart."""
    return publication.time, publication.position, publication.source, publication.id


def _columns(rows: Sequence[_Row]) -> Placements:
    return Placements._make(_filled(NO_PLACEMENTS, rows))


def _filled(like: Sequence[Records], rows: Sequence[_Row]) -> Iterator[Records]:
    """Rows as columns of the same types as these empty ones."""
    columns = zip(*rows, strict=True) if rows else [()] * len(like)
    return (np.array(column, kind.dtype) for column, kind in zip(columns, like, strict=True))
