"""Rank-cover: the paper's example, its figures, and the fast way beside the plain one."""

from itertools import product
from random import Random

import numpy as np
import pytest

from shortlist.covering.condition_graph import Boxes, strict_order
from shortlist.model.advertisement import Advertisement
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.overlay.cover_shares import depth_readings, drawn_intervals
from shortlist.overlay.rank_cover import Ranked, Ranking, cover_counts

EXAMPLE = {
    "s1": ((1, 10), (1, 10)),
    "s2": ((1, 10), (1, 5)),
    "s3": ((3, 7), (1, 8)),
    "s4": ((9, 10), (9, 10)),
    "s5": ((1, 5), (1, 5)),
    "s6": ((3, 10), (2, 4)),
    "s7": ((3, 6), (1, 5)),
}


def by(score: str) -> Ranking:
    return Ranking(Advertisement(id="a", source="p", k=1, score=score))


def example() -> list[Subscription]:
    return [
        Subscription(id=name, where=f"x between {x[0]} and {x[1]} and y between {y[0]} and {y[1]}")
        for name, (x, y) in EXAMPLE.items()
    ]


def test_the_example_of_the_paper():
    ranking = by("subscription.volume")
    counts = ranking.counts([ranking.ranked(subscription) for subscription in example()])
    by_name = dict(zip(EXAMPLE, counts, strict=True))
    assert [name for name, count in by_name.items() if count.depth <= 2] == ["s1", "s2", "s3", "s4"]
    assert [name for name, count in by_name.items() if count.ancestors >= 3] == ["s7"]


def test_the_figures_of_the_paper():
    for count, regular, ancestors in ((10_000, 0.015, 0.06), (50_000, 0.0067, 0.025)):
        found = strict_order(drawn_intervals(count)).ancestors
        assert (found < 1).mean() == pytest.approx(regular, rel=0.1)
        assert (found < 10).mean() <= ancestors
        covered = [(found >= share * count).mean() for share in (0.001, 0.1)]
        assert covered == pytest.approx([0.94, 0.33], abs=0.015)


def test_the_three_readings_of_depth():
    order = strict_order(drawn_intervals(10_000))
    longest_chain, first_arrived, shortest_path = depth_readings(order)
    assert (longest_chain <= 10).mean() == pytest.approx(0.15, abs=0.02)
    assert (first_arrived <= 10).mean() == pytest.approx(0.78, abs=0.03)
    assert (shortest_path <= 5).mean() > 0.99
    assert first_arrived.max() == pytest.approx(21, abs=3)


def drawn_boxes(random: Random) -> Boxes:
    """Few distinct ends, so that boxes are often equal."""
    shape = random.randint(1, 12), random.randint(1, 3)
    lows = np.array([random.choice([0.0, 1.0, 2.0]) for _ in range(shape[0] * shape[1])])
    widths = np.array([random.choice([1.0, 2.0, 5.0]) for _ in range(shape[0] * shape[1])])
    return Boxes.closed(lows.reshape(shape), (lows + widths).reshape(shape))


@pytest.mark.parametrize("seed", range(60))
def test_at_once_is_as_one_by_one(seed):
    random = Random(seed)
    boxes = drawn_boxes(random)
    count = len(boxes.lows)
    places = np.array(random.sample(range(count), count))
    ancestors, depths = cover_counts(boxes, places)
    for one in range(count):
        above = [
            other
            for other in range(count)
            if places[other] < places[one]
            and (boxes.lows[other] <= boxes.lows[one]).all()
            and (boxes.highs[other] >= boxes.highs[one]).all()
        ]
        assert ancestors[one] == len(above)
        assert depths[one] == 1 + max((depths[other] for other in above), default=0)


@pytest.mark.parametrize("seed", range(40))
def test_ranges_are_counted_as_any_condition(seed):
    random = Random(seed)
    ranking = by(
        random.choice(["subscription.volume", "subscription.score", "0.5", "-subscription.volume"])
    )
    some = [
        Subscription(id=f"s{n}", where=f"x between {low} and {low + width}", score=0.5)
        for n, (low, width) in enumerate(
            (random.randint(0, 3), random.randint(1, 4)) for _ in range(9)
        )
    ]
    ranked = [ranking.ranked(subscription) for subscription in some]
    assert ranking.counts(ranked) == [*ranking._pairwise(ranked)]


def test_what_a_publication_may_change_rank_covers_nothing():
    ranking = by("subscription.score + price")
    wide, narrow = (
        Subscription(id=name, where=f"x < {high}", score=score)
        for name, high, score in (("wide", 9, 0.9), ("narrow", 5, 0.1))
    )
    assert not ranking.rank_covers(ranking.ranked(wide), ranking.ranked(narrow))
    by_score = by("subscription.score")
    assert by_score.rank_covers(by_score.ranked(wide), by_score.ranked(narrow))
    moving = Subscription(id="narrow", where="x < 5", score="price")
    assert not by_score.rank_covers(by_score.ranked(wide), by_score.ranked(moving))


def test_only_the_best_score_of_a_shortlist_is_known():
    several = Subscription(id="wide", shortlist="anna", where="x < 9", score=0.9)
    narrow = Subscription(id="narrow", where="x < 5", score=0.1)
    for score, combine, is_covered in [
        ("subscription.score", "max", True),
        ("subscription.score", "mean", False),
        ("subscription.volume", "max", False),
    ]:
        ranking = by(score)
        home = Shortlist(id="anna", subscriber="anna", combine=combine)
        wide = ranking.ranked(several, home)
        assert ranking.rank_covers(wide, ranking.ranked(narrow)) == is_covered


def test_ancestors_are_distinct_other_shortlists():
    ranking = by("subscription.score")
    anna, ben = (Shortlist(id=name, subscriber=name) for name in ("anna", "ben"))
    chain: list[Ranked] = [
        ranking.ranked(
            Subscription(id=f"s{n}", shortlist=home.id, where=f"x < {9 - n}", score=1 - n / 10),
            home,
        )
        for n, home in enumerate([anna, ben, anna, ben])
    ]
    counts = ranking.counts(chain)
    assert [(count.depth, count.ancestors) for count in counts] == [(1, 0), (2, 1), (2, 1), (2, 1)]


def test_ties_go_to_the_smaller_id():
    ranking = by("1")
    a, b = (ranking.ranked(Subscription(id=name, where="x < 3")) for name in "ab")
    assert [ranking.rank_covers(*pair) for pair in product((a, b), repeat=2)] == [
        False,
        True,
        False,
        False,
    ]
