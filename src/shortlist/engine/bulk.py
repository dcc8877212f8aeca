"""The engine's halves in bulk: blocks of publications in, columns of placements out."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from shortlist.engine.admitted import Admitted
from shortlist.engine.bulk_matching import BulkMatching
from shortlist.engine.live import told
from shortlist.matching.blocks import Block
from shortlist.matching.index.index import Index
from shortlist.model.command import Command
from shortlist.model.delivery import Delivery
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.combined import Expected
from shortlist.selection.bulk.offers import Placements
from shortlist.selection.bulk.selecting import BulkSelecting

BLOCK = 512
"""Publications that are matched together: as many as a mask has bits."""


class BulkHalves:
    """Matching and selecting, many publications at once."""

    at_once = BLOCK

    def __init__(self, vocabulary: Vocabulary, limits: Limits, index: Index) -> None:
        self.matching = BulkMatching(vocabulary, limits, index)
        self.selecting = BulkSelecting(lambda: self.matching.combining.refreshes)
        self._shortlists: list[Shortlist | None] = []
        self.counts: Counter[str] = Counter()

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

    def placed(self, block: Sequence[Admitted]) -> Placements:
        """The same as columns, with numbers that hold until the next call."""
        self.selecting.sweep()
        reads = [admitted.read for admitted in block]
        combined, sets, left_out = self.matching.combined(
            Block.of_readers(reads), self._expected(block)
        )
        is_chosen = self.matching.is_chosen(block, combined)
        if not is_chosen.all():
            combined = combined.kept(is_chosen)
        self.counts["matched"] += combined.scores.size + left_out
        publications = [admitted.publication for admitted in block]
        return self._counted(self.selecting.publish(publications, combined, sets))

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
        self.selecting.open(number, shortlist)

    def close(self, shortlist: str, time: int) -> list[Delivery]:
        number = self.matching.shortlists.number(shortlist)
        deliveries = self.deliveries(self._counted(self.selecting.close(number, time)))
        self._shortlists[number] = None
        return deliveries

    def cancel(self, shortlist: str, subscription: str, time: int) -> list[Delivery]:
        numbers = self.matching.shortlists.number(shortlist), self.matching.number(subscription)
        return self.deliveries(self._counted(self.selecting.cancel(*numbers, time)))

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
