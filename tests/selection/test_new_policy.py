"""A plain policy is what CONTRIBUTING.md says it is: settings, a selector, and rows in tables."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import pytest

from shortlist.engine import shard as shards
from shortlist.engine.engine import Engine
from shortlist.matching.scan import Scan
from shortlist.model.policy import POLICIES, Chain, TopK, _Kind
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.selection.base import Outcome, Selector, placed_at_once
from shortlist.selection.policies import SELECTORS
from tests.engine.test_bulk import everything_of

SETTINGS = Settings(lateness=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class EveryNth(_Kind):
    """Of the matches every n-th."""

    shows: ClassVar[bool] = False
    kind: Literal["every-nth"] = "every-nth"
    n: int


class EveryNthSelector(Selector):
    def __init__(self, policy: EveryNth, shortlist: str) -> None:
        self._n, self._seen = policy.n, 0

    def arrive(self, candidate, now):
        self._seen += 1
        if self._seen % self._n:
            return Outcome([], "another one's turn")
        return Outcome([placed_at_once(candidate, now)])

    def state(self):
        return self._seen

    def restore(self, state):
        self._seen = state


@pytest.fixture(autouse=True)
def _every_nth(monkeypatch):
    monkeypatch.setitem(POLICIES, "every-nth", EveryNth)
    monkeypatch.setitem(SELECTORS, EveryNth, EveryNthSelector)
    monkeypatch.setattr(shards, "KINDS", (*POLICIES, shards.CHAIN))  # made of them at import


def registry(policy):
    lists = [Shortlist(id=name, subscriber=name, policy=policy) for name in "xy"]
    some = [
        Subscription(id=name, shortlist=name, where="a > 0", score="a" if name == "x" else "-a")
        for name in "xy"
    ]
    return Registry(shortlists=lists, subscriptions=some)


def items():
    return [
        Publication(id=str(n), source="s", time=n, position=n, data={"a": n % 7}) for n in range(40)
    ]


POLICY = EveryNth(n=3)


@pytest.mark.parametrize("policy", [POLICY, Chain((TopK(k=3), POLICY)), Chain((POLICY, POLICY))])
def test_a_shard_delivers_what_a_plain_engine_does(policy):
    made = registry(policy)
    plain = Engine(made, SETTINGS, matcher=Scan).process(items(), last=True)
    assert plain.deliveries
    assert everything_of(Engine(made, SETTINGS).process(items(), last=True)) == everything_of(plain)


def test_every_third_match_is_delivered():
    found = Engine(registry(POLICY), SETTINGS).process(items(), last=True).deliveries
    matching = [str(n) for n in range(40) if n % 7]
    assert [each.publication.id for each in found if each.shortlist == "x"] == matching[2::3]
