"""Windows (top-k/w) in bulk: the k best of many sliding windows at once."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from shortlist.matching.blocks import Floats, Longs
from shortlist.model.durations import Span
from shortlist.model.policy import Fresh, Window
from shortlist.scoring.match_sets import MatchSets
from shortlist.selection.bank.arena import Fields
from shortlist.selection.bank.base import Expectations
from shortlist.selection.bank.offers import NEVER, Offers, Placements
from shortlist.selection.bank.sliding import SlidingBank
from shortlist.selection.kernels import window as kernels
from shortlist.selection.kernels import window_runs
from shortlist.selection.kernels.arena import TAKEN
from shortlist.selection.kernels.chances import judge_after
from shortlist.selection.kernels.outbox import NOBODY, Outbox
from shortlist.selection.kernels.window_rows import PUSHED, WINDOW_HEAD, WINDOW_ROW

MOST_JUDGED = 256
"""With a larger k nothing is dropped by chance: that would take longer than it saves."""
PIECE = 64
"""Offers of one place that go through their instants together, where little is known of them."""
MOST = 2**31 - 1


class WindowBank(SlidingBank):
    """Time windows and endless ones; keeps what can still come among the k best.

    How: docs/windows.md.
    """

    head: ClassVar[Fields] = WINDOW_HEAD
    row: ClassVar[Fields] = WINDOW_ROW

    def __init__(self, piece: int = PIECE) -> None:
        super().__init__()
        self._piece = piece
        self._breakpoints: dict[int, Floats] = {}
        self._watched = self._joined_breakpoints()

    def open_all(self, shortlists: Sequence[str], policy: Any) -> Longs:
        settings = window_settings(policy)
        return self._arena.open_all(len(shortlists), **settings, allowed=self._allowed(policy))

    def arrive(self, offers: Offers, sets: MatchSets) -> Placements:
        return self._arrive(offers, offers.scores)

    def change(self, places: Longs, policy: Any, times: Longs) -> Placements:
        heads = self._arena.heads
        heads["k"][places] = window_settings(policy)["k"]
        heads["allowed"][places] = self._allowed(policy)
        judge_after(heads, places, times)
        # whoever hears of a cancellation looks who leaves next
        return self._cancelled(places, NOBODY, times)

    def cancel(self, place: int, subscription: int, time: int) -> Placements:
        return self._cancelled(np.array([place]), subscription, np.array([time]))

    def close(self, places: Longs, times: Longs) -> Placements:
        placements = super().close(places, times)
        for place in self._breakpoints.keys() & places.tolist():
            self.watch(place, np.empty(0))
        return placements

    def floors(self, places: Longs, until: int) -> Floats:
        """Keys under which an offer up to an instant does not come among the k best by then.

        A caller of `arrive` may leave out an offer under its place's floor, if the same call has,
        behind it, k better ones for the place that name the same subscription and do not expire
        within the window (these may be left out for the same reason). -inf where fewer than k
        rows stay that long, and where each offer must be counted. `dropped` counts no offer that
        was left out.
        """
        arena = self._arena
        return window_runs.floors(arena.heads, arena.rows, np.asarray(places, np.int64), until)

    def expected(self, until: int) -> Expectations | None:
        heads = self._arena.heads
        sees_all = (heads["count"] > 0) | (heads["allowed"] > 0.0)
        places = np.flatnonzero((heads["is_open"] == 1) & ~sees_all)
        return Expectations(places, self.floors(places, until), heads["k"][places])

    def watch(self, place: int, breakpoints: Floats) -> None:
        """Counts in `cell_changes` how often a threshold moves across some of these keys.

        Breakpoints are ascending, and not part of the state.
        """
        if breakpoints.size:
            self._breakpoints[place] = np.asarray(breakpoints, np.float64)
        elif self._breakpoints.pop(place, None) is None:
            return
        self._watched = self._joined_breakpoints()

    def _allowed(self, policy: Any) -> float:
        """What is missing lets something else in, which is wrong, too: each has half the error."""
        is_exact = policy.window is None or policy.k > MOST_JUDGED
        return 0.0 if is_exact else policy.error / 2

    def _arrive(self, offers: Offers, keys: Floats) -> Placements:
        arena = self._arena
        outbox = Outbox.with_room(keys.size + int(arena.tail[TAKEN]))
        arena.rows = window_runs.arrive(
            arena.heads,
            arena.rows,
            arena.tail,
            offers.aligned(),
            np.require(keys, np.float64, ["C", "W"]),
            self._piece,
            self._reports(outbox),
        )
        return outbox.placements()

    def _cancelled(self, places: Longs, subscription: int, times: Longs) -> Placements:
        arena, outbox = self._arena, self._outbox(places)
        reports = self._reports(outbox)
        kernels.cancel(arena.heads, arena.rows, places, subscription, times, reports)
        return outbox.placements()

    def _advance(self, places: Longs, befores: Longs) -> Placements:
        arena, outbox = self._arena, self._outbox(places)
        reports = self._reports(outbox)
        kernels.advance_places(arena.heads, arena.rows, places, befores, reports)
        return outbox.placements()

    def _retract(self, places: Longs, publication: int, time: int) -> None:
        kernels.retract(self._arena.heads, self._arena.rows, places, publication, time)

    def _reports(self, outbox: Outbox) -> kernels.Reports:
        return kernels.Reports(outbox, *self._watched)

    def _joined_breakpoints(self) -> tuple[Longs, Floats]:
        sizes = np.zeros(max(self._breakpoints, default=-1) + 1, np.int64)
        for place, breakpoints in self._breakpoints.items():
            sizes[place] = breakpoints.size
        ordered = [self._breakpoints[place] for place in sorted(self._breakpoints)]
        return np.append(0, np.cumsum(sizes)), np.concatenate([np.empty(0), *ordered])


class CountWindowBank(WindowBank):
    """Count windows: each row also knows which match pushes it out."""

    row: ClassVar[Fields] = [*PUSHED, *WINDOW_ROW]


def window_settings(policy: Window | Fresh) -> dict[str, Any]:
    """The head of a window that has seen nothing yet."""
    span = policy.window.micros if isinstance(policy.window, Span) else NEVER
    return {
        "k": min(policy.k, MOST),
        "span": span if span < NEVER // 2 else NEVER,  # sums with times stay within 64 bits
        "count": min(policy.window, NEVER // 2) if isinstance(policy.window, int) else 0,
        "threshold": -np.inf,
        "next_due": NEVER,
        "next_push": NEVER,
        "next_judgement": -NEVER,
        "bar": -np.inf,
    }
