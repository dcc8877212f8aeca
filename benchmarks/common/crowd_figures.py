"""The figures of policies for millions of shortlists: speed, room, and the plain selectors'."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from shortlist.model.policy import Cap, Digest, Novelty, Quiet, SinglePolicy, TopK
from shortlist.progress import Steps
from shortlist.selection.bank.base import Bank
from shortlist.selection.bank.cap import CapBank
from shortlist.selection.bank.novelty import NoveltyBank
from shortlist.selection.bank.preferential import PreferentialBank
from shortlist.selection.bank.waiting import WaitingBank

from .crowds import SECOND, Crowd, choose, choose_plainly, placed_pairs
from .report import Report
from .timing import timed

HOUR = 3600 * SECOND
OSLO = "Europe/Oslo"
FEW = 2_000
"""Shortlists that have a plain selector beside the bank."""


class Setting(NamedTuple):
    """A policy, and what carries it out."""

    bank: Callable[[], Bank]
    policy: SinglePolicy


SETTINGS: Mapping[str, Setting] = {
    "top-k": Setting(PreferentialBank, TopK(k=5)),
    "top-k, refresh": Setting(PreferentialBank, TopK(k=5, refresh=HOUR)),
    "novelty, rate": Setting(NoveltyBank, Novelty(rate=0.2, period=10)),
    "novelty, interval": Setting(NoveltyBank, Novelty(rate=0.2, period=10, measure="interval")),
    "digest": Setting(WaitingBank, Digest(k=5, every="day", at="18:00", zone=OSLO)),
    "quiet": Setting(WaitingBank, Quiet(from_="02:00", to="03:00", k=5, zone=OSLO)),
    "cap": Setting(CapBank, Cap(most=5, per="day", zone=OSLO)),
}
"""At the epoch it is one o'clock in Oslo: quiet hours begin and end while matches come."""


@dataclass(frozen=True, slots=True)
class CrowdFigures:
    """Adds figures to a report."""

    report: Report
    steps: Steps
    crowd: Crowd

    def beside_plain(self, name: str) -> None:
        """One policy for all shortlists; a few of them also have plain selectors."""
        make, policy = SETTINGS[name]
        crowd, few = self.crowd, min(FEW, self.crowd.shortlists)
        _opened(bank := make(), policy, 1)
        choose(bank, Crowd(shortlists=1, matches_each=20), few)  # compiles what is not compiled yet
        with self.steps.step(f"{name}: plain selectors"):
            matches, expected, plain_seconds = choose_plainly(policy, crowd, few)
        bank = make()
        with self.steps.step(f"{name}: opening {crowd.shortlists:,} shortlists"):
            _, open_seconds = timed(lambda: _opened(bank, policy, crowd.shortlists))
        with self.steps.step(f"{name}: choosing"):
            chosen = choose(bank, crowd, few)
        same = np.array_equal(placed_pairs(chosen.first), expected)
        facts: dict[str, Any] = {"policy": name, "shortlists": few, "matches": matches}
        self.report.compared(same, "crowds", to="plain", **facts)
        plain = matches / plain_seconds
        self.report.add(
            "crowds", engine="plain", **facts, core_seconds=plain_seconds, matches_per_second=plain
        )
        speed = chosen.matches / chosen.seconds
        self.report.add(
            "crowds",
            engine="bank",
            policy=name,
            shortlists=crowd.shortlists,
            matches=chosen.matches,
            deliveries=chosen.deliveries,
            core_seconds=chosen.seconds,
            matches_per_second=speed,
            ratio_to_plain=speed / plain,
            bytes_per_shortlist=sum(arena.nbytes for arena in bank.arenas) / crowd.shortlists,
            opened_per_second=crowd.shortlists / open_seconds,
        )
        if chosen.due:
            self.report.add(
                "due",
                policy=name,
                shortlists=crowd.shortlists,
                deliveries=chosen.due,
                core_seconds=chosen.due_seconds,
            )


def _opened(bank: Bank, policy: SinglePolicy, count: int) -> None:
    for number in range(count):
        bank.open(str(number), policy)
