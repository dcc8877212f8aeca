"""States of plain selectors, as snapshots of version 1 hold them, as rows of banks."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from shortlist.model.policy import TopK
from shortlist.model.publication import Publication
from shortlist.scoring.combine import ScoredMatch
from shortlist.scoring.combined import UNSET
from shortlist.scoring.match_sets import ALONE, NO_SETS
from shortlist.selection.bank.base import Bank
from shortlist.selection.bank.offers import NEVER, NO_OFFERS, Offers
from shortlist.selection.bank.preferential import PreferentialBank
from shortlist.selection.kernels.chances import stride_of
from shortlist.selection.kernels.novelty_memory import SAMPLING, THRESHOLD, Held, Memory
from shortlist.selection.kernels.order_statistics import put_recent
from shortlist.selection.kernels.sampling import count_matches
from shortlist.selection.kernels.window_rows import DELIVERED, in_order, write_rows
from shortlist.selection.records import recorded_publication

NOBODY = -1


class Known(NamedTuple):
    """The numbers of what states name."""

    publication: Callable[[Publication], int]
    subscription: Callable[[str], int]


Adopt = Callable[[Bank, int, Any, Known], None]
"""Puts a state into a bank, at the place of a shortlist that has seen nothing yet."""


def publications_in(kind: str, state: Any) -> Iterator[Publication]:
    """The publications that a bank of some kind holds once it has adopted a state.

    >>> [each.id for each in publications_in("top-k", [["ads", "flat", 0.5, None]])]
    ['flat']
    """
    if kind == "top-k":
        for source, publication, _, _ in state:
            yield _delivered(source, publication)
    elif kind in ("window", "counted window"):
        for (publication, *_), _, inside in state:
            if inside:
                yield recorded_publication(publication)


def adopt_top_k(bank: Bank, place: int, state: Sequence[Any], known: Known) -> None:
    """From rows of source, publication, score and end."""
    arena = bank.arenas[0]
    # Of what comes in order of score nothing is refused; where the policy has neither refresh nor
    # period, the ends stay what they are.
    again = PreferentialBank()
    replayed = again.open("", TopK(k=int(arena.heads["k"][place])))
    rows = sorted(state, key=lambda row: row[2])
    offers = _offers(
        len(rows),
        places=replayed,
        times=-NEVER,
        publications=[known.publication(_delivered(*row[:2])) for row in rows],
        expiries=[NEVER if row[3] is None else row[3] for row in rows],
        scores=[row[2] for row in rows],
        refreshes=UNSET,
    )
    again.arrive(offers, NO_SETS)
    arena.put(place, again.arenas[0].rows_of(replayed))
    for name in ("floor", "until"):
        arena.heads[name][place] = again.arenas[0].heads[name][replayed]


def adopt_window(bank: Bank, place: int, state: Sequence[Any], known: Known) -> None:
    """From rows of a candidate, whether it was delivered, and whether it is inside the window.

    Those of a count window are its last matches, in their order.
    """
    if not state:
        return
    arena = bank.arenas[0]
    head = arena.heads[place]
    offers = _window_offers(state, known)
    inside = np.flatnonzero([inside for _, _, inside in state])
    rows = np.zeros(inside.size, arena.rows.dtype)
    write_rows(head, rows, offers, offers.scores, inside, 0)
    rows["marks"] |= np.array([DELIVERED * delivered for _, delivered, _ in state], "u1")[inside]
    arena.put(place, rows[in_order(rows, 0, rows.size, False)])
    if head["count"] > 0:
        head["matches"] = len(state)
    last = int(offers.times.max())
    stride = stride_of(arena.heads, place)
    head["next_judgement"] = (last // stride + 1) * stride
    # Whoever hears of a cancellation looks who leaves next.
    bank.cancel(place, NOBODY, last)


def adopt_novelty(bank: Bank, place: int, state: Mapping[str, Any], known: Known) -> None:
    """From t, counts by subscription, and what is remembered of the period or the window."""
    counts, _, _, _, deliveries, _ = bank.arenas
    head, past = counts.heads[place], state["past"]
    counted = dict(sorted((known.subscription(name), name) for name in state["counts"]))
    delivered = [each["t"] for each in past if each["delivered"]]
    head["t"], head["threshold"], head["delivered"] = state["t"], state["threshold"], len(delivered)
    # A guess: what was delivered to several subscriptions is counted several times.
    total = sum(each["deliveries"] for each in state["counts"].values())
    head["total"] = min(state["t"], total)
    facts = ("matches", "last_delivery" if head["is_interval"] else "deliveries", "used")
    rows = [(n, *(state["counts"][name][fact] for fact in facts)) for n, name in counted.items()]
    counts.put(place, np.array(rows, counts.rows.dtype))
    if head["is_eager"]:
        deliveries.put(place, np.array(delivered, deliveries.rows.dtype))
    if head["algorithm"] == THRESHOLD:
        _adopt_novelties(bank, place, [each["novelty"] for each in past])
    elif head["algorithm"] == SAMPLING and head["is_eager"]:
        _adopt_window_samples(bank, place, past, known)
    elif head["algorithm"] == SAMPLING:
        _adopt_samples(bank, place, state, counted.values())


ADOPT: dict[str, Adopt] = {
    "top-k": adopt_top_k,
    "window": adopt_window,
    "counted window": adopt_window,
    "novelty": adopt_novelty,
}
"""By kind of bank."""


def _delivered(source: str, publication: str) -> Publication:
    """All that is known of one in a state of `top-k`."""
    return Publication(id=publication, source=source, time=0, position=-1)


def _offers(size: int, **columns: Any) -> Offers:
    """So many offers, with zeros in all other columns."""
    offers = Offers._make(np.zeros(size, like.dtype) for like in NO_OFFERS)
    for name, values in columns.items():
        getattr(offers, name)[:] = values
    return offers


def _window_offers(state: Sequence[Any], known: Known) -> Offers:
    """The publications as they once came; those that are not inside have no numbers."""
    publications = [recorded_publication(record[0]) for record, _, _ in state]
    named = [ScoredMatch(*record[2]) for record, _, _ in state]
    is_inside = [inside for _, _, inside in state]
    return _offers(
        len(state),
        times=[each.time for each in publications],
        publications=[
            known.publication(each) if inside else NOBODY
            for each, inside in zip(publications, is_inside, strict=True)
        ],
        expiries=[NEVER if each.expiry is None else each.expiry for each in publications],
        scores=[record[1] for record, _, _ in state],
        named=[
            known.subscription(each.subscription) if inside else NOBODY
            for each, inside in zip(named, is_inside, strict=True)
        ],
        possibilities=[each.possibility for each in named],
        necessities=[each.necessity for each in named],
        matched=ALONE,
    )


def _adopt_novelties(bank: Bank, place: int, novelties: Sequence[float]) -> None:
    """Of the matches in the period, the highest; of those in the window, each in its slot."""
    counts, _, highest, recent, _, _ = bank.arenas
    head = counts.heads[place]
    quota = int(head["quota"])
    if not head["is_eager"]:
        highest.put(place, np.array(sorted(novelties)[-quota:], highest.rows.dtype))
        return
    rows = np.zeros(len(novelties), recent.rows.dtype)
    for slot, novelty in enumerate(np.roll(novelties, head["t"])):
        put_recent(rows, 0, slot, quota, slot, novelty)
    recent.put(place, rows)


def _adopt_window_samples(bank: Bank, place: int, past: Sequence[Any], known: Known) -> None:
    """Lets the matches in the window count once more."""
    counts, samples, *_, pairs = bank.arenas
    samples.put(place, np.zeros(counts.rows_of(place).size, samples.rows.dtype))
    pairs.put(place, np.zeros(sum(len(each["subscriptions"]) for each in past), pairs.rows.dtype))
    memory = Memory(*(Held(arena.heads, arena.rows, arena.tail) for arena in bank.arenas))
    at: Any = np.int32(place)  # for an int the kernel would be compiled once more
    for each in past:
        counts.heads["t"][place] = each["t"]
        matched = np.array([known.subscription(name) for name in each["subscriptions"]], np.int32)
        count_matches(memory, at, matched, 0, matched.size)


def _adopt_samples(
    bank: Bank, place: int, state: Mapping[str, Any], counted: Collection[str]
) -> None:
    """Of all matches, by subscription in the order of the counts."""
    counts, samples, *_ = bank.arenas
    facts = ("matches", "first_match", "last_match")
    rows = [
        (*(state["counts"][name][fact] for fact in facts), state["chances"].get(name, 1.0))
        for name in counted
    ]
    samples.put(place, np.array(rows, samples.rows.dtype))
    samples.heads["matching"][place] = len(counted)
    samples.heads["matching_before"][place] = _matching_before(counts.heads[place], state)


def _matching_before(head: Any, state: Mapping[str, Any]) -> int:
    """How many subscriptions had matches when the last period ended; some may be cancelled since.

    It is asked for the chances of those that have not matched since. If one is under 1, it tells
    how many had a share of the rate; if none is, any number up to the right one will do.
    """
    ended = state["t"] - state["t"] % int(head["period"])
    for name, chance in state["chances"].items():
        counts = state["counts"][name]
        if chance < 1.0 and counts["last_match"] <= ended:
            if head["is_interval"]:
                span = counts["last_match"] - counts["first_match"]
                share = chance / (span / (counts["matches"] - 1))
            else:
                share = chance * (counts["matches"] / ended)
            return round(float(head["rate"]) / float(share))
    return len(state["chances"])
