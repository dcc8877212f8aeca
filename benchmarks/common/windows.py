"""Windows in bulk, as the engine calls them: distances, then the bank."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from experiments.top_k_w.grid_cells import cell_scores
from shortlist.matching.blocks import Block, Bools, Ints, Longs
from shortlist.model.durations import Span
from shortlist.model.policy import Window
from shortlist.model.subscription import Subscription
from shortlist.scoring.blocks import BulkScores
from shortlist.scoring.combined import UNSET
from shortlist.scoring.kernels.distances import Hopes
from shortlist.scoring.kernels.layout import Findings
from shortlist.scoring.match_sets import ALONE, NO_SETS
from shortlist.selection.bank.offers import NEVER, Offers, Placements
from shortlist.selection.bank.window import WindowBank
from shortlist.selection.kernels.arena import Records

from .streams import AXES, BLOCK, MINUTE, VOCABULARY, Points, Stream, uniform

CELLS = 10
"""Of a regular grid, on each axis."""


def window(k: int = 9, minutes: int = 40, error: float = 0.0) -> Window:
    return Window(k=k, window=Span(minutes * MINUTE), error=error)


@dataclass(slots=True)
class Played:
    """What happened while publications came."""

    placed: list[Placements] = field(default_factory=list)
    offers: int = 0
    lengths: list[Records] = field(default_factory=list)
    """Of all windows, after each block: how many rows they keep."""

    @property
    def placements(self) -> Placements:
        return Placements.joined(self.placed)


class State(NamedTuple):
    """The heads of all windows, their bytes with those of all rows, and with the room for more."""

    heads: Records
    held_bytes: int
    reserved_bytes: int

    def mean(self, fact: str) -> float:
        """Of what the heads tell."""
        return float(self.heads[fact].mean())


class Windows:
    """A window for each of some points: the nearer to it, the better.

    With `every_offer` the bank sees all pairs; else it does not see those of which it says that
    they make no difference.

    >>> windows = Windows(np.array([[0.5, 0.5, 0.5, 0.5]]), window(k=1))
    >>> windows.play(uniform(1_000)).placements.publications.tolist()
    [0, 1, 4, 7, 10, 73, 257, 495, 812]
    """

    def __init__(self, points: Points, policy: Window, every_offer: bool = False) -> None:
        self._bank = WindowBank()
        self._scores = BulkScores(VOCABULARY)
        for number, point in enumerate(points.tolist()):
            self._scores.add(number, Subscription(id=str(number), score=score_of(point)))
            self._bank.open(str(number), policy)
        self._numbers = np.arange(len(points), dtype=np.int32)
        self._ks = np.full(len(points), 0 if every_offer else policy.k, np.int32)
        self._every_offer = every_offer

    def play(self, stream: Stream) -> Played:
        """All publications come."""
        played = Played()
        for offers in self.offers(stream):
            played.placed.append(self._bank.arrive(offers, NO_SETS))
            played.offers += offers.scores.size
            played.lengths.append(self._bank.arenas[0].heads["length"][: self._numbers.size].copy())
        return played

    def offers(self, stream: Stream) -> Iterator[Offers]:
        """What the bank sees, block by block."""
        times = stream.times
        for first, block in stream.blocks():
            yield self._offers(block, first, times)

    def emptied(self) -> Placements:
        """What is still placed when nothing comes any more."""
        return self._bank.advance(NEVER)

    def watch(self, points: Points) -> None:
        """Counts changes of grid cells, too."""
        for place, point in enumerate(points):
            self._bank.watch(place, cell_scores(point, CELLS))

    def state(self) -> State:
        """What is kept now."""
        arena = self._bank.arenas[0]
        heads = arena.heads[: self._numbers.size].copy()
        held = heads.nbytes + int(heads["length"].sum()) * arena.rows.itemsize
        return State(heads, held, arena.nbytes)

    def _offers(self, block: Block, first: int, times: Longs) -> Offers:
        last = int(times[first + block.size - 1])
        found = self._found(block, last)
        # the findings of each subscription go from the newest to the oldest
        publications = found.publications[::-1] + np.int32(first)
        subscriptions, count = found.subscriptions[::-1], found.scores.size
        certain, came = np.ones(count), times[publications]
        return Offers(
            places=subscriptions,
            times=came,
            publications=publications,
            appeared=came,
            expiries=np.full(count, NEVER),
            scores=found.scores[::-1],
            named=subscriptions,
            possibilities=certain,
            necessities=certain,
            refreshes=np.full(count, UNSET),
            matched=np.full(count, ALONE, np.int32),
        )

    def _found(self, block: Block, last: int) -> Findings:
        if self._every_offer:
            floors = np.full(self._numbers.size, -np.inf)
        else:
            floors = self._bank.floors(self._numbers, last)
        hopes = Hopes(self._numbers, floors, self._ks)
        return self._scores.hopeful_in_block(block, hopes, np.ones(block.size, np.bool_))[0]


def score_of(point: Sequence[float]) -> str:
    """
    >>> score_of([0.5, 0.25, 0, 1])
    '-distance(a: 0.500000, b: 0.250000, c: 0.000000, d: 1.000000)'
    """
    wishes = (f"{axis}: {value:.6f}" for axis, value in zip(AXES, point, strict=True))
    return f"-distance({', '.join(wishes)})"


def window_keys(places: Ints, publications: Ints, promoted: Bools) -> Longs:
    """What tells placements apart: window, publication, and whether it came in later."""
    return places.astype(np.int64) << 32 | publications.astype(np.int64) << 1 | promoted


def keys_of(placements: Placements) -> Longs:
    """The same of all placements, ascending."""
    return np.sort(window_keys(placements.places, placements.publications, placements.promoted))


def warm() -> None:
    """Compiles what is not compiled yet."""
    stream = uniform(2 * BLOCK)
    for error in (0.0, 0.01):
        windows = Windows(stream.points[:2], window(k=2, minutes=1, error=error))
        windows.play(stream)
        windows.emptied()
