"""The engine's halves in bulk: blocks of publications in, columns of placements out."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from shortlist.engine.admitted import Admitted
from shortlist.engine.bulk_matching import BulkMatching
from shortlist.engine.live import told
from shortlist.matching.blocks import Block, Ints
from shortlist.matching.index.index import Index
from shortlist.model.command import Command
from shortlist.model.delivery import Delivery
from shortlist.model.policy import POLICIES, Policy, policies_of
from shortlist.model.policy_changes import kept_by
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.blocks import Arrivals
from shortlist.scoring.combined import Expected
from shortlist.selection.bank.offers import NO_PLACEMENTS, Placements
from shortlist.selection.bank.selecting import BankSelecting
from shortlist.selection.bank.tables import Table
from shortlist.selection.bank.world import Subscriptions

CHAIN = "chain"
KINDS = (*POLICIES, CHAIN)
AUDIENCE = "audience"
"""A publisher's k best were others; these do not count as matches."""
HOPELESS = "hopeless"
"""Left out before they had a score, since k others were better."""
BLOCK = 512
"""Publications that are matched together: as many as a mask has bits."""


class BulkHalves:
    """Matching and selecting, many publications at once."""

    at_once = BLOCK

    def __init__(self, vocabulary: Vocabulary, limits: Limits, index: Index | None) -> None:
        self.matching = BulkMatching(vocabulary, limits, index)
        self.selecting = BankSelecting(self.subscriptions())
        self._shortlists: list[Shortlist | None] = []
        self.counts: Counter[str] = Counter()
        self.suppressed: Counter[str] = Counter()
        """Matches that were not delivered at arrival, by kind of policy or other reason."""
        self._kinds = Table([("kind", "i1")])

    def subscriptions(self) -> Subscriptions:
        """Who the numbers of subscriptions stand for."""
        return Subscriptions(
            lambda: self.matching.combining.refreshes,
            lambda number: self.matching.subscription(number).id,
            self.matching.number,
        )

    @property
    def work(self) -> dict[str, Any]:
        """What was done so far: matches, deliveries by cause, values of another type."""
        return {**self.counts, "other_type": dict(self.matching.census.mismatches)}

    def apply(self, command: Command) -> list[Delivery]:
        """Carries out a command that the roster did not refuse."""
        deliveries = told(self, command, self.matching.roster)
        self.matching.apply(command)
        return deliveries

    def publish(self, block: Sequence[Admitted]) -> list[Delivery]:
        """Offers publications to every shortlist that they match and were chosen for."""
        return self.deliveries(self.placed(block))

    def placed(self, block: Sequence[Admitted], found: Arrivals | None = None) -> Placements:
        """The same as columns, with numbers that hold until the next call.

        What they match may have been found elsewhere.
        """
        self.selecting.sweep()
        placed, end = [NO_PLACEMENTS], 0
        for run in _runs(block):
            start, end = end, end + len(run)
            first = run[0].publication
            if first.replaces is not None:
                replaced = first.source, first.replaces
                placed.append(self._counted(self.selecting.retract(*replaced, first.time)))
            if not first.dead_on_arrival:
                matches = None if found is None else found.between(start, end)
                placed.append(self._arrived(run, matches))
        return Placements.joined(placed)

    def advance(self, before: int) -> list[Delivery]:
        return self.deliveries(self.due(before))

    def due(self, before: int) -> Placements:
        """Everything due before an instant, as columns."""
        return self._counted(self.selecting.advance(before))

    def open(self, shortlist: Shortlist) -> None:
        number = self.matching.shortlists.number(shortlist.id)
        if number == len(self._shortlists):
            self._shortlists.append(None)
        self._shortlists[number] = shortlist
        self._kinds.put(number, kind=KINDS.index(_kind(shortlist.policy)))
        self.selecting.open(number, shortlist)

    def close(self, shortlist: str, time: int) -> list[Delivery]:
        number = self.matching.shortlists.number(shortlist)
        deliveries = self.deliveries(self._counted(self.selecting.close(number, time)))
        self._shortlists[number] = None
        return deliveries

    def cancel(self, shortlist: str, subscription: str, time: int) -> list[Delivery]:
        numbers = self.matching.shortlists.number(shortlist), self.matching.number(subscription)
        return self.deliveries(self._counted(self.selecting.cancel(*numbers, time)))

    def update(
        self, shortlist: Shortlist, subscription: Subscription | None, time: int
    ) -> list[Delivery]:
        """Settings change, after all that is due at or before an instant.

        Of subscriptions nothing but their numbers is known here.
        """
        number = self.matching.shortlists.number(shortlist.id)
        if kept_by(self.shortlist(number).policy, shortlist.policy):
            settled = self.deliveries(self._counted(self.selecting.settle(number, time)))
            self.selecting.change(number, shortlist, time)
            self._shortlists[number] = shortlist
            return settled
        settled = self.close(shortlist.id, time)
        self.open(shortlist)
        return settled

    def retract(self, source: str, publication: str, time: int) -> list[Delivery]:
        placed = self.selecting.retract(source, publication, time)
        return self.deliveries(self._counted(placed))

    def shortlist(self, number: int) -> Shortlist:
        shortlist = self._shortlists[number]
        assert shortlist is not None
        return shortlist

    def deliveries(self, placed: Placements) -> list[Delivery]:
        """Placements as objects."""
        found = []
        columns = (column.tolist() for column in placed)
        for number, time, publication, score, named, high, low, rank, promoted, _ in zip(
            *columns, strict=True
        ):
            shortlist = self.shortlist(number)
            found.append(
                Delivery(
                    time=time,
                    shortlist=shortlist.id,
                    subscriber=shortlist.subscriber,
                    publication=self.selecting.publications[publication],
                    subscription=self.matching.subscription(named).id,
                    score=score,
                    possibility=high,
                    necessity=low,
                    rank=rank or None,
                    cause="promotion" if promoted else "arrival",
                )
            )
        return found

    def _arrived(self, block: Sequence[Admitted], found: Arrivals | None) -> Placements:
        """What publications lead to that nothing happens between."""
        if found is None:
            reads = [admitted.read for admitted in block]
            combined, sets, left_out = self.matching.combined(
                Block.of_readers(reads), self._expected(block)
            )
        else:
            combined, sets = self.matching.combining.grouped(len(block), found)
            left_out = 0
        is_chosen = self.matching.is_chosen(block, combined)
        if not is_chosen.all():
            self.suppressed[AUDIENCE] += int((~is_chosen).sum())
            combined = combined.kept(is_chosen)
        self.counts["matched"] += combined.scores.size + left_out
        publications = [admitted.publication for admitted in block]
        placed = self._counted(self.selecting.publish(publications, combined, sets))
        self._suppress(combined.shortlists, left_out, placed.kept(~placed.promoted).places)
        return placed

    def _suppress(self, offered: Ints, left_out: int, placed: Ints) -> None:
        """Counts what was offered to shortlists and is not placed."""
        kinds = self._kinds["kind"]
        missing = np.bincount(kinds[offered], minlength=len(KINDS))
        missing -= np.bincount(kinds[placed], minlength=len(KINDS))
        for kind, count in zip(KINDS, missing.tolist(), strict=True):
            if count:
                self.suppressed[kind] += count
        if left_out:
            self.suppressed[HOPELESS] += left_out

    def _expected(self, block: Sequence[Admitted]) -> Expected | None:
        """What publications must reach to matter; who is chosen for one depends on all of them."""
        if not self.matching.combining.expects or any(admitted.inducement for admitted in block):
            return None
        last = block[-1].publication.time
        lasts = np.array([admitted.publication.expiry is None for admitted in block])
        return Expected(*self.selecting.expected(last), lasts)

    def _counted(self, placed: Placements) -> Placements:
        promotions = int(placed.promoted.sum())
        if placed.promoted.size > promotions:
            self.counts["arrival"] += placed.promoted.size - promotions
        if promotions:
            self.counts["promotion"] += promotions
        return placed


def _kind(policy: Policy) -> str:
    """What shortlists with this policy are counted as."""
    kinds = [each.kind for each in policies_of(policy)]
    return kinds[0] if len(kinds) == 1 else CHAIN


def _runs(block: Sequence[Admitted]) -> Iterator[Sequence[Admitted]]:
    """A block cut before each publication that replaces another, and behind one that is dead."""
    first = 0
    for at, admitted in enumerate(block):
        follows_dead = block[at - 1].publication.dead_on_arrival
        if at > first and (admitted.publication.replaces is not None or follows_dead):
            yield block[first:at]
            first = at
    if block:
        yield block[first:]
