"""The scored matches of a block in, a row for each publication and shortlist out, as arrays."""

from collections.abc import Callable
from typing import NamedTuple, get_args

import numpy as np

from shortlist.matching.arrays import with_length
from shortlist.matching.blocks import Bools, Floats, Ints, Longs
from shortlist.matching.index.names import NameColumn
from shortlist.matching.index.storage import Parts
from shortlist.model.policy import Policy, policies_of
from shortlist.model.shortlist import Combine, Shortlist
from shortlist.model.subscription import Subscription
from shortlist.scoring.blocks import Arrivals
from shortlist.scoring.candidates import Scoring
from shortlist.scoring.kernels.combining import (
    Demands,
    How,
    Members,
    Ordered,
    combine_groups,
    ordered,
    survey,
)
from shortlist.scoring.kernels.distances import Hopes
from shortlist.scoring.match_sets import MatchSets
from shortlist.scoring.numbers import Numbers

HOWS: dict[Combine, How] = {how: How[how.upper()] for how in get_args(Combine)}
UNSET = -1
"""A refresh that is not given: the policy's own counts."""
LONGEST = 2**62
"""A refresh of more is no longer: no time is left then."""
REMEMBERED = 1024
"""Different sets of matches of one shortlist whose most specific ones are kept in mind."""


class Combined(NamedTuple):
    """Publications that match shortlists, in order of shortlist and publication."""

    publications: Ints
    """By place in the block."""
    shortlists: Ints
    named: Ints
    """The subscriptions that deliveries would name."""
    scores: Floats
    possibilities: Floats
    necessities: Floats
    matched: Ints
    """The numbers of the sets of matching subscriptions, or `ALONE`."""

    def kept(self, which: Bools | Longs | slice) -> "Combined":
        return Combined._make(column[which] for column in self)


class Expected(NamedTuple):
    """What publications of a block must reach to matter to shortlists, as `Hopes` has it."""

    floors: Floats
    """By shortlist."""
    ks: Ints
    """By shortlist, -1 where every publication matters."""
    lasts: Bools
    """By publication: it leaves no earlier than those before it."""


def asks_for_sets(policy: Policy) -> bool:
    """Whether a policy has to know all subscriptions that a publication matches."""
    return any(each.asks_for_matches for each in policies_of(policy))


class BlockCombining:
    """What `Scoring` does for one publication, for many; subscriptions and shortlists by number."""

    def __init__(
        self,
        scoring: Scoring,
        shortlists: Numbers,
        number_of: Callable[[str], int],
        names: NameColumn,
        wants_nearest: Callable[[int], bool],
    ) -> None:
        self._scoring = scoring
        self._shortlists = shortlists
        self._number_of = number_of
        self._names = names
        self._wants_nearest = wants_nearest
        self.refreshes: Longs = np.zeros(8, np.int64)
        """By subscription, `UNSET` for those without."""
        self._is_near: Bools = np.zeros(8, np.bool_)
        """By subscription: it wants the nearest of everything, for a shortlist of its own."""
        self._members = Members(
            shortlists=np.zeros(8, np.int32),
            ranks=np.zeros(8, np.int32),
            weights=np.zeros(8),
            levels=np.zeros(8, np.int32),
        )
        self._demands = Demands(hows=np.zeros(8, np.int32), sets=np.zeros(8, np.bool_))
        self._most_members = 1
        self._changed: dict[str, None] = {}
        """Shortlists in which subscriptions came or went since the last block, in that order."""
        self._general: dict[int, dict[tuple[int, ...], list[int]]] = {}
        """By shortlist and its matching subscriptions: the places of those that are too general."""

    def add(self, number: int, subscription: Subscription) -> None:
        """A subscription that `Scoring` knows before the next block."""
        if number >= self.refreshes.size:
            self.refreshes = with_length(self.refreshes, number + 1)
            self._is_near = with_length(self._is_near, number + 1)
            self._members = Members._make(with_length(each, number + 1) for each in self._members)
        refresh = subscription.refresh
        self.refreshes[number] = UNSET if refresh is None else min(refresh, LONGEST)
        self._members.weights[number] = subscription.weight
        self._changed[subscription.shortlist_id] = None

    def remove(self, number: int, subscription: Subscription) -> None:
        """A subscription that is not live at the next block."""
        self._changed[subscription.shortlist_id] = None
        self._is_near[number] = False

    def reopen(self, shortlist: str) -> None:
        """A shortlist has other settings from the next block on."""
        self._changed[shortlist] = None

    def saved(self) -> Parts:
        self._catch_up()
        return {
            "refreshes": self.refreshes,
            "is_near": self._is_near,
            "members": self._members._asdict(),
            "demands": self._demands._asdict(),
            "most_members": self._most_members,
        }

    def load(self, saved: Parts) -> None:
        """Takes the place of what is known of subscriptions, which `Scoring` knows already."""
        self.refreshes, self._is_near = saved["refreshes"], saved["is_near"]
        self._members, self._demands = Members(**saved["members"]), Demands(**saved["demands"])
        self._most_members = saved["most_members"]

    @property
    def expects(self) -> bool:
        """Whether it is of use to know what publications must reach."""
        self._catch_up()
        return bool(self._is_near.any())

    def hopes(self, expected: Expected) -> Hopes:
        """What publications must reach to matter to those who want the nearest."""
        self._catch_up()
        near = np.flatnonzero(self._is_near).astype(np.int32)
        near = near[expected.ks[self._members.shortlists[near]] >= 0]
        shortlists = self._members.shortlists[near]
        return Hopes(near, expected.floors[shortlists], expected.ks[shortlists])

    def grouped(self, size: int, found: Arrivals) -> tuple[Combined, MatchSets]:
        """A row for each publication and shortlist, of a block of so many publications.

        Sets hold the matches of shortlists that ask for them, where there are several.
        """
        self._catch_up()
        publication_bits = (size - 1).bit_length()
        rank_bits = (self._most_members - 1).bit_length()
        pairs = ordered(self._members, found, publication_bits, rank_bits)
        crowds, room = survey(self._demands, pairs)
        leaves_out = self._left_out(pairs, crowds.tolist())
        matched, groups, sets = combine_groups(
            self._members, self._demands, pairs, leaves_out, room
        )
        return Combined(*pairs, matched).kept(slice(groups)), room.first(sets)

    def _left_out(self, pairs: Ordered, crowds: list[int]) -> Bools:
        """Which pairs of crowds, each from one place to another, are not the most specific ones."""
        leaves_out = np.zeros(pairs.scores.size if crowds else 0, np.bool_)
        if crowds:
            shortlists, subscriptions = pairs.shortlists.tolist(), pairs.subscriptions.tolist()
            general: list[int] = []
            for first, end in zip(crowds[::2], crowds[1::2], strict=True):
                matching = tuple(subscriptions[first:end])
                general += [first + at for at in self._general_ones(shortlists[first], matching)]
            leaves_out[general] = True
        return leaves_out

    def _general_ones(self, shortlist: int, matching: tuple[int, ...]) -> list[int]:
        """The places of those that cover another one of a shortlist's matching subscriptions."""
        known = self._general.setdefault(shortlist, {})
        if matching not in known:
            if len(known) == REMEMBERED:
                known.clear()
            names = [self._names[number] for number in matching]
            specific = self._scoring.most_specific(names)
            known[matching] = [at for at, name in enumerate(names) if name not in specific]
        return known[matching]

    def _catch_up(self) -> None:
        """Writes down the members of shortlists that have changed."""
        for name in self._changed:
            members = self._scoring.members.get(name)
            if members:
                known, shortlist = self._scoring.shortlists[name], self._shortlists.number(name)
                demands = Demands._make(with_length(each, shortlist + 1) for each in self._demands)
                demands.hows[shortlist] = HOWS[known.combine]
                demands.sets[shortlist] = asks_for_sets(known.policy)
                self._demands = demands
                self._write_members(known, shortlist, sorted(members))
                self._general.pop(shortlist, None)
        self._changed.clear()

    def _write_members(self, known: Shortlist, shortlist: int, members: list[str]) -> None:
        """In order of id."""
        self._most_members = max(self._most_members, len(members))
        is_alone = len(members) == 1 and known.combine not in ("mean", "sum")
        shortlists, ranks, _, levels = self._members
        for rank, member in enumerate(members):
            number, level = self._number_of(member), self._scoring.level(member, known)
            shortlists[number], ranks[number], levels[number] = shortlist, rank, level or 0
            self._is_near[number] = is_alone and level is None and self._wants_nearest(number)
