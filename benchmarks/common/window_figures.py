"""The figures of windows: the bank beside baselines, its growth, and what an error saves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from shortlist.matching.blocks import Longs
from shortlist.model.policy import Window
from shortlist.progress import Steps
from shortlist.selection.bank.offers import Placements

from .report import Report
from .streams import MINUTE, Points, Stream, centres
from .timing import core_timed
from .window_baselines import best_at_arrival, candidate_list, sorted_list
from .windows import Played, State, Windows, keys_of, window

Baseline = Callable[[Stream, Points, Window], tuple[Longs, float]]


class Fraction(NamedTuple):
    """A baseline, and what it is timed on at most."""

    baseline: Baseline
    subscriptions: int
    publications: int


BASELINES: Mapping[str, Fraction] = {
    "candidate list": Fraction(candidate_list, 10, 1_000_000),
    "sorted list": Fraction(sorted_list, 2, 100_000),
}
DATABASE = Fraction(best_at_arrival, 2, 1_000_000)

KS = (1, 3, 9, 27)
MINUTES = (10, 40, 160)
SHARES_OF_SUBSCRIPTIONS = (0.25, 1, 4)
GROWING = 100
"""Subscriptions with which k and the windows grow."""
WATCHED = 100
JUDGED = 40
"""Subscriptions of the probabilistic windows, which must see every offer."""
ERRORS = (1e-2, 1e-3, 1e-4)


class Run(NamedTuple):
    """What happened until the last arrival, and later."""

    played: Played
    seconds: float
    state: State
    """At the last arrival."""
    later: Placements

    @property
    def placements(self) -> Placements:
        return Placements.joined([*self.played.placed, self.later])


@dataclass(frozen=True, slots=True)
class WindowFigures:
    """Adds figures to a report."""

    report: Report
    steps: Steps
    subscriptions: int

    def beside_baselines(self, stream: Stream) -> None:
        """The paper's setting, and the same by others on a part of it."""
        policy, points = window(), centres(self.subscriptions)
        with self.steps.step(f"windows, {stream.name}: the bank"):
            run = played(stream, points, policy)
        facts = run_facts(stream, points, policy, run)
        ratios = {}
        for name, fraction in BASELINES.items():
            speed = self._baseline(name, fraction, stream, policy)
            ratios[f"ratio_to_{name.replace(' ', '_')}"] = facts["pairs_per_second"] / speed
        self.report.add("windows", engine="bank", data=stream.name, **facts, **ratios)

    def best_at_arrival(self, stream: Stream) -> None:
        """What a database's window functions can express: k = 1, without promotions."""
        policy, points = window(k=1), centres(self.subscriptions)
        speed = self._baseline("duckdb", DATABASE, stream, policy, lambda keys: keys[keys & 1 == 0])
        with self.steps.step(f"windows, {stream.name}: the best of each"):
            facts = run_facts(stream, points, policy, played(stream, points, policy))
        ratio = facts["pairs_per_second"] / speed
        self.report.add("windows", engine="bank", data=stream.name, **facts, ratio_to_duckdb=ratio)

    def growth(self, stream: Stream) -> None:
        """One thing grows, the others stay."""
        few = min(GROWING, self.subscriptions)
        for k in KS:
            self._grown("k", stream, few, window(k=k))
        for minutes in MINUTES:
            self._grown("window", stream, few, window(minutes=minutes))
        for share in SHARES_OF_SUBSCRIPTIONS:
            self._grown("subscriptions", stream, round(share * self.subscriptions), window())

    def updates(self, stream: Stream) -> None:
        """How often brokers would hear of a threshold: of each change, or of its grid cell."""
        policy, points = window(), centres(min(WATCHED, self.subscriptions))
        with self.steps.step("windows: changes of grid cells"):
            run = played(stream, points, policy, watched=True)
        self.report.add(
            "updates",
            data=stream.name,
            **setting(stream, points, policy),
            threshold_changes_per_subscription=run.state.mean("threshold_changes"),
            cell_changes_per_subscription=run.state.mean("cell_changes"),
        )

    def probabilistic(self, stream: Stream) -> None:
        """Errors that are allowed, beside the exact run; every offer is seen."""
        points = centres(min(JUDGED, self.subscriptions))
        with self.steps.step("windows: exact, every offer"):
            exact = played(stream, points, window(), every_offer=True, watched=True)
        self._probabilistic(stream, points, window(), exact, exact)
        for error in ERRORS:
            policy = window(error=error)
            with self.steps.step(f"windows: error {error}"):
                run = played(stream, points, policy, every_offer=True, watched=True)
            self._probabilistic(stream, points, policy, run, exact)

    def _probabilistic(
        self, stream: Stream, points: Points, policy: Window, run: Run, exact: Run
    ) -> None:
        by_last_arrival = differences(run.played.placements, exact.played.placements)
        missing, extra = differences(run.placements, exact.placements)
        pairs = len(points) * len(stream)
        facts = run_facts(stream, points, policy, run)
        self.report.add(
            "probabilistic",
            data=stream.name,
            error=policy.error,
            measured_error=(missing + extra) / pairs,
            measured_error_by_last_arrival=sum(by_last_arrival) / pairs,
            missing=missing,
            extra=extra,
            dropped_per_subscription=run.state.mean("dropped"),
            **facts,
            cell_changes_per_subscription=run.state.mean("cell_changes"),
        )

    def _baseline(
        self,
        name: str,
        fraction: Fraction,
        stream: Stream,
        policy: Window,
        comparable: Callable[[Longs], Longs] = lambda keys: keys,
    ) -> float:
        """Its pairs a second; what it places must be what the bank places."""
        some = stream.first(fraction.publications)
        points = centres(min(fraction.subscriptions, self.subscriptions))
        with self.steps.step(f"windows, {stream.name}: {name}"):
            keys, seconds = fraction.baseline(some, points, policy)
        expected = comparable(keys_of(played(some, points, policy).placements))
        facts = setting(some, points, policy)
        same = np.array_equal(np.sort(keys), expected)
        self.report.compared(same, "windows", to=name, data=stream.name, **facts)
        speed = speed_facts(some, points, seconds)
        self.report.add("windows", engine=name, data=stream.name, **facts, **speed)
        return float(speed["pairs_per_second"])

    def _grown(self, what: str, stream: Stream, subscriptions: int, policy: Window) -> None:
        points = centres(subscriptions)
        with self.steps.step(f"windows: growth with {what}"):
            run = played(stream, points, policy)
        facts = run_facts(stream, points, policy, run)
        self.report.add("window growth", grows=what, data=stream.name, **facts)


def played(
    stream: Stream,
    points: Points,
    policy: Window,
    every_offer: bool = False,
    watched: bool = False,
) -> Run:
    """All publications come, then the windows empty."""
    windows = Windows(points, policy, every_offer)
    if watched:
        windows.watch(points)
    found, seconds = core_timed(partial(windows.play, stream))
    return Run(found, seconds, windows.state(), windows.emptied())


def setting(stream: Stream, points: Points, policy: Window) -> dict[str, Any]:
    return {
        "subscriptions": len(points),
        "publications": len(stream),
        "k": policy.k,
        "window_minutes": policy.window.micros // MINUTE,
    }


def speed_facts(stream: Stream, points: Points, seconds: float) -> dict[str, Any]:
    per_second = len(stream) / seconds
    return {
        "core_seconds": seconds,
        "publications_per_second": per_second,
        "pairs_per_second": per_second * len(points),
    }


def run_facts(stream: Stream, points: Points, policy: Window, run: Run) -> dict[str, Any]:
    found, count = run.played.placements, len(points)
    rows = np.array(run.played.lengths)
    return {
        **setting(stream, points, policy),
        **speed_facts(stream, points, run.seconds),
        "offers_share": run.played.offers / (count * len(stream)),
        "deliveries_per_subscription": found.places.size / count,
        "promotions_per_subscription": int(found.promoted.sum()) / count,
        "deliveries_once_emptied": (found.places.size + run.later.places.size) / count,
        "most_rows": int(rows.max()),
        "mean_rows": float(rows.mean()),
        "bytes_per_subscription": run.state.reserved_bytes / count,
        "held_bytes_per_subscription": run.state.held_bytes / count,
        "threshold_changes_per_subscription": run.state.mean("threshold_changes"),
    }


def differences(found: Placements, expected: Placements) -> tuple[int, int]:
    """How many deliveries are missing, and how many too many; when they came does not count."""
    some, others = (keys_of(placements) >> 1 for placements in (found, expected))
    return np.setdiff1d(others, some).size, np.setdiff1d(some, others).size
