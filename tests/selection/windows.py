"""Banks of windows with policies for them, and publications to draw."""

from shortlist.model.durations import Span
from shortlist.model.policy import Fresh, Window
from shortlist.model.publication import Publication
from shortlist.scoring.candidates import Candidate
from shortlist.scoring.combine import ScoredMatch
from shortlist.selection.bank.fresh import CountFreshBank, FreshBank
from shortlist.selection.bank.window import CountWindowBank, WindowBank
from tests.strategies import maybe

SPANS = [None, *map(Span, range(1, 9)), Span(20), Span(200)]
COUNTS = [1, 2, 3, 4, 5, 10, 20, 100]
KS = [1, 2, 3, 4]
HALF_LIVES = [1, 2, 3, 7, 50]
PIECES = [64, 1, 2, 5, 17]


def window(sizes):
    return lambda pick: Window(k=pick(KS), window=pick(sizes))


def fresh(sizes):
    return lambda pick: Fresh(k=pick(KS), window=pick(sizes), half_life=pick(HALF_LIVES))


BANKS = {
    "time": (Window, WindowBank, window(SPANS)),
    "count": (Window, CountWindowBank, window(COUNTS)),
    "fresh": (Fresh, FreshBank, fresh(SPANS)),
    "fresh count": (Fresh, CountFreshBank, fresh(COUNTS)),
}


def late(pick, time, position, scale):
    """A publication that appeared some time before it comes, as behind another policy."""
    appeared = time - pick([0, 0, 1, 2, 5])
    return drawn(pick, time, (appeared + 100) * 10_000 + position, appeared, pick([1, 2, 3, 4]))


def steady(pick, time, position, scale):
    """Many scores, few subscriptions, seldom an expiry."""
    return drawn(pick, time, position, time, pick(range(-3, 40)), often=pick([0, 0, 0, 1]))


def drawn(pick, time, position, appeared, score, often=1):
    named = ScoredMatch(pick("aaabc"), score / 4, 0.75, 0.123456789)
    alive_for = maybe(pick, range(1, 10), often)
    expiry = None if alive_for is None else time + alive_for
    publication = Publication(
        id=f"p{position}", source="s", time=appeared, position=position, expiry=expiry
    )
    return Candidate(publication, "list", named.score, named, (named,))
