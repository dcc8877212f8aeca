"""Windows (top-k/w) in bulk: the k best of many sliding windows at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from shortlist.matching.blocks import Floats, Longs
from shortlist.model.policy import Span, Window
from shortlist.scoring.match_sets import MatchSets
from shortlist.selection.bulk.arena import Arena, Fields
from shortlist.selection.bulk.offers import NEVER, NO_OFFERS, Offers, Placements
from shortlist.selection.kernels import window as kernels
from shortlist.selection.kernels import window_runs
from shortlist.selection.kernels.arena import Records
from shortlist.selection.kernels.window_rows import PUSHED, WINDOW_HEAD, WINDOW_ROW

PIECE = 64
"""Offers of one place that go through their instants together, where little is known of them."""


class WindowBank:
    """Time windows and endless ones: rows for what can still come among the k best.

    >>> from shortlist.scoring.match_sets import NO_SETS
    >>> from shortlist.selection.bulk.offers import NO_OFFERS
    >>> bank = WindowBank()
    >>> place = bank.open("tops", Window(k=1, window=Span(5)))
    >>> offers = NO_OFFERS.kept(slice(0))
    """

    head: Fields = WINDOW_HEAD
    row: Fields = WINDOW_ROW

    def __init__(self, piece: int = PIECE) -> None:
        self._arena = Arena(self.head, self.row)
        self._piece = piece
        self._breakpoints: dict[int, Floats] = {}
        self._watched: tuple[Longs, Floats] = self._joined_breakpoints()

    @property
    def arenas(self) -> Sequence[Arena]:
        return [self._arena]

    def open(self, shortlist: str, policy: Any) -> int:
        return self._arena.open(**self._settings(policy))

    def arrive(self, offers: Offers, sets: MatchSets) -> Placements:
        return self._arrive(offers, offers.scores)

    def advance(self, before: int) -> Placements:
        heads = self._arena.heads
        due = (heads["next_due"] < before) & (heads["length"] > 0)
        return self._advance(np.flatnonzero(due), before)

    def cancel(self, place: int, subscription: int, time: int) -> Placements:
        arena, outbox = self._arena, self._outbox(np.array([place]))
        kernels.cancel(arena.heads, arena.rows, place, subscription, time, outbox)
        return _placements(outbox.records[: outbox.count[0]])

    def close(self, place: int, time: int) -> Placements:
        placements = self._advance(np.array([place]), time + 1)
        self._arena.close(place)
        self.watch(place, np.empty(0))
        return placements

    def floors(self, places: Longs, until: int) -> Floats:
        """Keys under which an offer up to an instant does not come among the k best by then.

        A caller of `arrive` may leave out an offer under its place's floor, if behind it in the
        same call there are k better ones which name the same subscription, have no expiry within
        the window, and are not themselves left out or are so for the same reason. -inf where
        fewer than k rows stay that long, and where each offer must be seen.
        """
        arena = self._arena
        return window_runs.floors(arena.heads, arena.rows, np.asarray(places, np.int64), until)

    def watch(self, place: int, breakpoints: Floats) -> None:
        """Counts in `cell_changes` how often a threshold moves across some of these keys.

        Breakpoints are ascending, and not part of the state.
        """
        if breakpoints.size:
            self._breakpoints[place] = np.asarray(breakpoints, np.float64)
        elif self._breakpoints.pop(place, None) is None:
            return
        self._watched = self._joined_breakpoints()

    def _settings(self, policy: Any) -> dict[str, Any]:
        """The head of a shortlist that has seen nothing yet."""
        counted = isinstance(policy.window, int)
        return {
            "k": policy.k,
            "span": policy.window.micros if isinstance(policy.window, Span) else NEVER,
            "count": policy.window if counted else 0,
            # what a missing one lets in is wrong, too: each has half of the error
            "allowed": 0.0 if policy.window is None else policy.error / 2,
            "threshold": -np.inf,
            "next_due": NEVER,
            "next_push": NEVER,
            "next_judgement": -NEVER,
        }

    def _arrive(self, offers: Offers, keys: Floats) -> Placements:
        arena = self._arena
        columns = [
            np.ascontiguousarray(column, like.dtype)
            for column, like in zip(offers, NO_OFFERS, strict=True)
        ]
        arena.rows, placed = window_runs.arrive(
            arena.heads,
            arena.rows,
            arena.tail,
            Offers(*columns),
            np.ascontiguousarray(keys),
            self._piece,
            *self._watched,
        )
        return _placements(placed)

    def _advance(self, places: Longs, before: int) -> Placements:
        arena, outbox = self._arena, self._outbox(places)
        kernels.advance_places(arena.heads, arena.rows, places, before, outbox)
        return _placements(outbox.records[: outbox.count[0]])

    def _outbox(self, places: Longs) -> kernels.Outbox:
        """Room for all that these places hold."""
        most = int(self._arena.heads["length"][places].sum())
        records = np.empty(most, kernels.PLACED)
        return kernels.Outbox(records, np.zeros(1, np.int64), *self._watched)

    def _joined_breakpoints(self) -> tuple[Longs, Floats]:
        sizes = np.zeros(max(self._breakpoints, default=-1) + 1, np.int64)
        for place, breakpoints in self._breakpoints.items():
            sizes[place] = breakpoints.size
        ordered = [self._breakpoints[place] for place in sorted(self._breakpoints)]
        return np.append(0, np.cumsum(sizes)), np.concatenate([np.empty(0), *ordered])


class CountWindowBank(WindowBank):
    """Count windows: each row also knows which match pushes it out."""

    row: Fields = [*WINDOW_ROW, *PUSHED]


def _placements(records: Records) -> Placements:
    return Placements(*(np.ascontiguousarray(records[name]) for name in kernels.PLACED.names or ()))
