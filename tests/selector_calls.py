"""Policies, and calls to a selector in order of time, built by `pick` as in `tests.strategies`."""

import json

from shortlist.model.aspects import Aspect
from shortlist.model.durations import Span
from shortlist.model.policy import (
    Cap,
    Chain,
    Digest,
    Diverse,
    Everything,
    Fresh,
    Novelty,
    Quiet,
    TopK,
    Window,
)
from shortlist.model.publication import Publication
from shortlist.scoring.candidates import Candidate
from shortlist.scoring.combine import ScoredMatch
from shortlist.selection.records import numbered, restored
from tests.strategies import maybe

END_OF_TIME = 2**62


def everything(pick):
    return Everything()


def top_k(pick):
    return TopK(
        k=pick([1, 2, 3, 4]), refresh=maybe(pick, range(1, 9)), period=maybe(pick, range(1, 9))
    )


def window_size(pick):
    return pick([None, *map(Span, range(1, 9)), *range(1, 6)])


def window(pick):
    return Window(k=pick([1, 2, 3, 4]), window=window_size(pick))


def novelty(pick):
    return Novelty(
        rate=pick([0.1, 0.2, 0.29, 0.3, 0.5, 0.7, 1.0]),
        period=pick([1, 2, 3, 5, 7, 10, 100]),
        mode=pick(["lazy", "eager"]),
        measure=pick(["rate", "interval"]),
        algorithm=pick(["threshold", "sampling", "random"]),
        aging=pick([1.0, 1.0, 0.5, 0.1, 0.0]),
        seed=pick([0, 1, 2**64 - 1, -1]),
    )


def fresh(pick):
    return Fresh(k=pick([1, 2, 3, 4]), window=window_size(pick), half_life=pick([1, 2, 3, 7, 50]))


AREA, RENT, SOURCE = ("area",), ("flat", "rent"), ("event", "source")


def diverse(pick):
    over = [(Aspect(AREA, None),), (Aspect(RENT, 2.0),), (Aspect(AREA, None), Aspect(RENT, 3.0))]
    over += [(Aspect(AREA, 2.0), Aspect(SOURCE, None), Aspect(RENT, None))]
    return Diverse(
        k=pick([1, 2, 3, 4]),
        window=window_size(pick),
        over=pick(over),
        weight=pick([0.5, 0.0, 0.3, 0.9]),
    )


RHYTHMS = [
    *({"every": Span(span)} for span in range(1, 9)),
    {"every": "day"},
    {"every": "day", "at": "01:00", "zone": "Europe/Oslo"},
    {"every": "week", "on": "thu"},
]
"""In Oslo it was one o'clock at the epoch, and a Thursday."""
HOURS = [("23:00", "00:00"), ("00:00", "23:59"), ("12:00", "11:00"), ("00:00", "12:00")]


def digest(pick):
    return Digest(k=pick([1, 2, 3, 4, None]), **pick(RHYTHMS))


def quiet(pick):
    begin, end = pick(HOURS)
    days = pick([("mon", "tue", "wed", "thu", "fri", "sat", "sun"), ("thu",), ("wed", "fri")])
    return Quiet(from_=begin, to=end, days=days, k=pick([1, 2, None]))


def cap(pick):
    rhythm = dict(pick(RHYTHMS))
    return Cap(most=pick([1, 2, 3, 4]), per=rhythm.pop("every"), **rhythm)


SINGLE_POLICIES = {
    Everything: everything,
    TopK: top_k,
    Window: window,
    Novelty: novelty,
    Fresh: fresh,
    Diverse: diverse,
    Digest: digest,
    Quiet: quiet,
    Cap: cap,
}


def chain(pick):
    kinds = [pick([*SINGLE_POLICIES, Window, Novelty]) for _ in range(pick([1, 2, 2, 2, 3]))]
    return Chain(tuple(SINGLE_POLICIES[kind](pick) for kind in kinds))


POLICIES = {**SINGLE_POLICIES, Chain: chain}

AREAS = [None, 1, 1.0, True, "1", "north", [1], {"a": 1}]
RENTS = [None, 0, 1, 2.0, 2.5, 4, "2", True]


def data(pick):
    """Few values, so that some publications do not differ."""
    found = {"area": pick(AREAS), "flat": pick([None, {"rent": pick(RENTS)}])}
    return {name: value for name, value in found.items() if value is not None}


def candidate(pick, time, position, scale):
    """A publication that matches one to three subscriptions; the best of them is named."""
    names = pick(["a", "b", "c", "ab", "ac", "abc"])
    matches = tuple(
        ScoredMatch(name, pick([0, 1, 2, 3, 4]) / 2, 1.0, 0.5, refresh=pick([None, None, 1, 2, 5]))
        for name in names
    )
    named = max(matches, key=lambda match: (match.score, -ord(match.subscription)))
    alive_for = maybe(pick, range(1, 10))
    publication = Publication(
        id=f"p{position}",
        source=pick("st"),
        time=time,
        position=position,
        expiry=None if alive_for is None else time + scale * alive_for,
        data=data(pick),
    )
    return Candidate(publication, "list", named.score, named, matches)


def through_json(state):
    """A selector's state, by way of real JSON."""
    publications = []

    def number(publication):
        publications.append(publication)
        return len(publications) - 1

    text = json.dumps(numbered(state, number))
    return restored(json.loads(text), publications.__getitem__)


def calls(pick, most=30, scale=1, origin=0):
    """Calls in order of time: arrivals, cancellations, retractions, the mere passing of time.

    All but the last come at multiples of `scale` around an origin.
    """
    made, time = [], origin + scale * pick(range(-9, 9))
    arrived = [("s", "nothing")]
    for position in range(pick(range(most))):
        time += scale * pick([0, 0, 0, 1, 1, 2, 3, 7])
        kind = pick(["arrive"] * 6 + ["cancel", "retract", "advance"])
        if kind == "arrive":
            made.append((kind, candidate(pick, time, position, scale), time))
            publication = made[-1][1].publication
            arrived.append((publication.source, publication.id))
        elif kind == "retract":
            made.append((kind, *pick(arrived[-6:]), time))
        elif kind == "cancel":
            made.append((kind, pick("abc"), time))
        else:
            made.append((kind, time))
    closed = pick([None, None, *range(10)])
    made.append(("advance", END_OF_TIME) if closed is None else ("settle", time + scale * closed))
    return made
