"""Ranges all at once: what is left stands for everyone, and for itself."""

from dataclasses import replace
from math import inf

from shortlist.intake.files import registry_from_documents
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary
from shortlist.overlay.frontier import Judge, Uncovered, uncovered
from shortlist.overlay.messages import Proxy
from tests.overlay.drawn_networks import RANGES, WINDOW_SCORES
from tests.strategies import given_only, seeded

SCORES = [*WINDOW_SCORES, "possibility * price", "price / size", "2 * price", 0.1]


def drawn(seed: int, count: int) -> list[Proxy]:
    """Proxies of windows, with thresholds or not yet, and of whoever wants everything."""
    pick, proxies = seeded(seed), []
    for number in range(count):
        is_window = pick([False, True])
        policy = {"kind": "window", "k": 1, "window": "5s"} if is_window else None
        known = registry_from_documents(
            {
                "subscriptions": [
                    given_only(
                        id=f"s{number}",
                        where=pick([*RANGES, None]),
                        score=pick(SCORES),
                        policy=policy,
                    )
                ]
            }
        )
        [subscription] = known.subscriptions
        home = subscription.own_shortlist()
        if pick([False, False, True]):
            subscription = replace(subscription, shortlist=home.id, policy=None)
        threshold = pick([-inf, -inf, 0.0, 1.0]) if is_window else -inf
        proxies.append(Proxy(subscription, home, (pick([0, 1, 2]), 0), threshold=threshold))
    return proxies


def test_what_is_left_stands_for_all_and_no_two_for_each_other():
    judge = Judge(Vocabulary(), Limits())
    hidden = 0
    for seed in range(60):
        held = drawn(seed, 25)
        plain = [(proxy, judge.plain(proxy)) for proxy in held]
        left = uncovered([(proxy, ranges) for proxy, ranges in plain if ranges is not None])
        for proxy in held:
            others = [other for other in left if other.id != proxy.id]
            is_covered = any(judge.covers(other, proxy) for other in others)
            assert is_covered == (proxy not in left), (seed, proxy)
        hidden += len(held) - len(left)
        judge = Judge(Vocabulary(), Limits())
    assert hidden > 200


def test_few_that_are_compared_with_each_leave_nobody_out():
    for seed in range(60):
        held = drawn(seed, 12)
        judge = Judge(Vocabulary(), Limits())
        left = [*Uncovered(judge).forwarded(held, ())]
        for proxy in held:
            others = [other for other in left if other.id != proxy.id]
            assert proxy in left or any(judge.covers(other, proxy) for other in others), seed
