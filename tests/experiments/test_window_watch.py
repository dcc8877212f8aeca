"""What an observer of windows sees is what the publications say."""

import numpy as np
import pytest

from experiments.top_k_w.window_watch import WindowStates, WindowWatch
from shortlist.engine.engine import Engine
from shortlist.intake.files import registry_from_documents
from shortlist.model.publication import Publication

SECOND = 1_000_000
K, SPAN, AT_ONCE = 3, 20, 10
SCORES = np.random.default_rng(0).permutation(200).astype(float)
POLICY = {"kind": "window", "k": K}


def watched(**watching: object) -> list[WindowStates]:
    windows = {"timed": f"{SPAN}s", "counted": SPAN}
    subscriptions = [
        {"id": name, "score": "x", "policy": {**POLICY, "window": window}}
        for name, window in windows.items()
    ]
    engine = Engine(registry_from_documents({"subscriptions": subscriptions}))
    seen: list[WindowStates] = []
    engine.observer = WindowWatch(
        engine.shard, ["counted", "timed"], seen.append, at_once=AT_ONCE, **watching
    )
    news = [
        Publication(id=str(n), source="s", time=n * SECOND, position=n, data={"x": score})
        for n, score in enumerate(SCORES.tolist())
    ]
    engine.process(news, last=True)
    return seen


def test_thresholds_are_the_kth_best_of_what_is_in_the_window() -> None:
    seen = watched()
    assert len(seen) == len(SCORES) // AT_ONCE + 1
    for number, states in enumerate(seen[2:-1], start=2):
        # one leaves as the next one comes, and that is not there yet
        counted = SCORES[number * AT_ONCE - SPAN : number * AT_ONCE]
        assert states.thresholds.tolist() == [np.sort(counted)[-K]] * 2
        assert (states.rows >= K).all()


def test_changes_are_those_of_thresholds_one_by_one() -> None:
    kth = [-np.inf] * K
    for number in range(K, len(SCORES) + 1):
        kth.append(np.sort(SCORES[max(0, number - SPAN) : number])[-K])
    changes = np.count_nonzero(np.diff(np.array(kth[K - 1 :], dtype=object)))
    assert watched()[-1].threshold_changes[0] == changes


def test_cells_change_where_a_breakpoint_is_crossed() -> None:
    every = watched(breakpoints={"counted": SCORES[SCORES.argsort()] - 0.5})[-1]
    assert every.cell_changes.tolist() == [every.threshold_changes[0], 0]
    none = watched(breakpoints={"counted": np.array([-1.0])})[-1]
    assert none.cell_changes.tolist() == [1, 0]


@pytest.mark.parametrize(
    "policy",
    [
        {"kind": "everything"},
        {"kind": "top-k", "k": 1},
        {"kind": "fresh", "k": 1, "window": "1h", "half_life": "1h"},
        [{**POLICY, "window": "1h"}, {"kind": "cap", "most": 1, "per": "day"}],
    ],
)
def test_other_policies_are_refused(policy: object) -> None:
    registry = registry_from_documents({"subscriptions": [{"id": "a", "policy": policy}]})
    shard = Engine(registry).shard
    with pytest.raises(ValueError, match="'a': expected a window and no other policy"):
        WindowWatch(shard, ["a"], print)
