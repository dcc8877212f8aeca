"""What shortlists show: plain selectors and banks against a naive reading of the definition."""

from itertools import groupby

import numpy as np
import pytest

from shortlist.model.durations import Span
from shortlist.model.policy import Chain, Everything, Fresh, Novelty, TopK, Window, shows
from shortlist.selection.bank.banks import bank_kind, bank_of_kind
from shortlist.selection.bank.offers import NEVER
from tests.selection.duels import Player, anyone, offers_of
from tests.selector_calls import POLICIES, calls
from tests.strategies import seeded

NUMBERS = {"a": 0, "b": 1, "c": 2}


class NaiveValid:
    """Everything that was ever delivered, with its end."""

    def __init__(self, policy):
        self._policy = policy
        self._delivered = []

    def arrive(self, candidate, time, placements):
        if placements:
            policy, own = self._policy, candidate.named.refresh
            refresh = policy.refresh if own is None else own
            ends = [NEVER if candidate.publication.expiry is None else candidate.publication.expiry]
            ends += [] if refresh is None else [time + refresh]
            ends += [] if policy.period is None else [time - time % policy.period + policy.period]
            self._delivered.append((candidate, min(ends)))

    def cancel(self, subscription):
        pass

    def shown(self, now):
        valid = [(one.score, end, one) for one, end in reversed(self._delivered) if end > now]
        valid.sort(key=lambda row: row[:2], reverse=True)
        return [
            (one.publication.id, score, 1 + sum(other > score for other, _, _ in valid))
            for score, _, one in valid[: self._policy.k]
        ]


class NaiveWindow:
    """Everything that ever arrived and was not cancelled."""

    def __init__(self, policy):
        self._policy = policy
        self._came = []
        self._cancelled = set()

    def arrive(self, candidate, time, placements):
        self._came.append((candidate, time))

    def cancel(self, subscription):
        self._cancelled |= {
            one.publication.id for one, _ in self._came if one.named.subscription == subscription
        }

    def shown(self, now):
        window, came = self._policy.window, self._came
        if isinstance(window, Span):
            came = [(one, time) for one, time in came if time + window.micros > now]
        elif window is not None:
            came = came[-window:]
        there = [
            (one.score, one.publication.time, one.publication.position, one.publication.id)
            for one, _ in came
            if one.publication.id not in self._cancelled
            and (one.publication.expiry is None or one.publication.expiry > now)
        ]
        best = sorted(there, reverse=True)[: self._policy.k]
        return [(name, score, rank) for rank, (score, *_, name) in enumerate(best, start=1)]


NAIVE = {TopK: NaiveValid, Window: NaiveWindow}


def in_columns(bank, place, now):
    shown = bank.shown(np.array([place]), now)
    columns = shown.publications, shown.scores, shown.ranks
    return [
        (f"p{number}", score, rank)
        for number, score, rank in zip(*(column.tolist() for column in columns), strict=True)
    ]


def in_objects(selecting, now):
    return [(one.publication.id, one.score, one.rank) for one in selecting.shown(now)]


def played(kind, seed):
    """The plain selector, the bank and the naive reading at each instant of a drawn stream."""
    pick = seeded(seed)
    policy = POLICIES[kind](pick)
    bank = bank_of_kind(bank_kind(policy), anyone())
    player = Player("list", policy, bank.open("list", policy), NUMBERS)
    naive = NAIVE[kind](policy) if kind in NAIVE else None
    events = [call for call in calls(pick) if call[0] in ("arrive", "cancel")]
    now = None
    for time, some in groupby(events, key=lambda call: call[-1]):
        for between in [] if now is None else range(now, time):
            player.plain.advance(between + 1)
            bank.advance(between + 1)
            yield between, player, bank, naive
        for verb, what, _ in some:
            if verb == "arrive":
                placements = player.plain.arrive(what, time).placements
                bank.arrive(*offers_of([(player, what, time)]))
                if naive:
                    naive.arrive(what, time, placements)
            else:
                player.plain.cancel(what, time)
                bank.cancel(player.place, NUMBERS[what], time)
                if naive:
                    naive.cancel(what)
        now = time


@pytest.mark.parametrize("kind", [TopK, Window, Fresh], ids=lambda kind: kind.__name__)
def test_what_is_shown_at_each_instant(kind):
    seen = 0
    for seed in range(300):
        for now, player, bank, naive in played(kind, seed):
            shown = in_objects(player.plain, now)
            assert in_columns(bank, player.place, now) == shown, (seed, now)
            if naive:
                assert naive.shown(now) == shown, (seed, now)
            seen += len(shown)
    assert seen > 500


def test_what_shows_nothing():
    assert not shows(Everything())
    assert not shows(Novelty(rate=0.5, period=4))
    assert not shows(Chain((Window(k=1, window=None), Novelty(rate=0.5, period=4))))
    assert shows(Chain((Novelty(rate=0.5, period=4), TopK(k=1), Everything())))
