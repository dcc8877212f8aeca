"""`most_specific`, from the definition: all pairs of matching subscriptions are compared."""

from random import Random

from shortlist.covering.condition_graph import FEW
from shortlist.covering.covers import exactly_covers
from shortlist.language.printer import print_where
from shortlist.language.tree import And, Where
from shortlist.matching.base import Match
from shortlist.matching.values import Values
from shortlist.model.publication import Publication
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from tests.covering.covering_pool import POOLS, VOCABULARY, WHEN, X, fuzzy
from tests.covering.range_pool import DEEP, Y, range_condition
from tests.scoring.live_scoring import LiveScoring

PUBLICATION = Publication(id="p", source="s", time=0, position=0)
ANY_KIND = [*[predicate for pool in POOLS[X] for predicate in pool], *fuzzy(X), *POOLS[WHEN][0]]


def of_any_kind(draw: Random) -> Where | None:
    members = draw.sample(ANY_KIND, draw.randrange(3))
    if len(members) > 1:
        return And(tuple(members))
    return members[0] if members else None


def ranges(draw: Random) -> Where | None:
    return range_condition(draw, [X, Y, DEEP])


class Live:
    """A shortlist whose subscriptions come, match and go."""

    def __init__(self, draw: Random) -> None:
        self.draw = draw
        self.conditions: dict[str, Where | None] = {}
        self.scores: dict[str, float] = {}
        self.scoring = LiveScoring(VOCABULARY)
        self.scoring.opened(Shortlist(id="L", subscriber="you", combine="most_specific"))

    def add(self, name: str, condition: Where | None) -> None:
        text = None if condition is None else print_where(condition)
        self.conditions[name], self.scores[name] = condition, self.draw.randrange(100) / 100
        self.scoring.added(
            Subscription(id=name, shortlist="L", where=text, score=self.scores[name])
        )

    def remove(self, name: str) -> None:
        del self.conditions[name]
        self.scoring.removed(name)

    def check(self, names: list[str]) -> None:
        """What these come to if they all match, whether or not they could."""
        matches = [Match(name, 1.0, 1.0) for name in sorted(names)]
        read = Values(VOCABULARY).of(PUBLICATION)
        (candidate,) = self.scoring.candidates(PUBLICATION, read, matches)
        specific = [name for name in names if not self.covers_another(name, names)]
        named = min(specific, key=lambda name: (-self.scores[name], name))
        assert candidate.named.subscription == named
        assert candidate.score == self.scores[named]
        assert len(candidate.matches) == len(names)

    def covers_another(self, name: str, names: list[str]) -> bool:
        return any(self.covers(name, other) and not self.covers(other, name) for other in names)

    def covers(self, general: str, special: str) -> bool:
        return exactly_covers(self.conditions[general], self.conditions[special], VOCABULARY)


def test_subscriptions_that_come_match_and_go() -> None:
    for seed in range(60):
        draw = Random(seed)
        live = Live(draw)
        kind = draw.choice([of_any_kind, ranges])
        for _ in range(20):
            name = f"s{draw.randrange(8)}"
            if name in live.conditions:
                live.remove(name)
            live.add(name, kind(draw))
            live.check(draw.sample(list(live.conditions), draw.randint(1, len(live.conditions))))


def test_many_that_match_at_once() -> None:
    draw = Random(1)
    for kind in (of_any_kind, ranges):
        live = Live(draw)
        for number in range(FEW + 30):
            live.add(f"s{number}", kind(draw))
        names = list(live.conditions)
        live.check(names[: FEW + 5])
        for _ in range(10):
            live.check(draw.sample(names, 10))
