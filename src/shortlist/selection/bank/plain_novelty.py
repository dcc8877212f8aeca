"""What the bank of `novelty` holds of a shortlist, as its plain selector would."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from shortlist.model.policy import Novelty
from shortlist.selection.bank.arena import Arena
from shortlist.selection.bank.world import World
from shortlist.selection.kernels.arena import Records
from shortlist.selection.kernels.novelty_memory import NO_NOVELTY
from shortlist.selection.novelty import chance_of

Document = dict[str, Any]


def novelty_state(arenas: Sequence[Arena], place: int, policy: Novelty, world: World) -> Document:
    """What `NoveltySelector.restore` takes."""
    counts, samples, *others = arenas
    head, rows = counts.heads[place], counts.rows_of(place)
    names = [world.subscriptions.name(number) for number in rows["subscription"].tolist()]
    sampled = samples.rows_of(place) if policy.algorithm == "sampling" else None
    told: Document = {
        "t": int(head["t"]),
        "threshold": float(head["threshold"]),
        "counts": {},
        "chances": {},
    }
    matching_before = int(samples.heads[place]["matching_before"])
    for at, name in enumerate(names):
        sample = None if sampled is None else sampled[at]
        told["counts"][name] = _counts(rows[at], sample, policy)
        if sample is not None and policy.mode == "lazy":
            told["chances"][name] = _chance(sample, matching_before, policy, told["t"])
    past = _window(others, place, head, policy, world) if policy.mode == "eager" else None
    return told | {"past": _period(others[0], place, head, policy) if past is None else past}


def _counts(row: Records, sample: Records | None, policy: Novelty) -> Document:
    """Of one subscription; a selector knows more than it asks for with these settings."""
    served, used = int(row["served"]), float(row["used"])
    is_interval = policy.measure == "interval"
    is_lazy_sample = sample is not None and policy.mode == "lazy"
    return {
        "matches": int(row["matches"] if sample is None else sample["matches"]),
        "deliveries": 0 if is_interval else served,
        "last_delivery": served if is_interval else 0,
        "first_match": int(sample["first"]) if sample is not None and is_lazy_sample else 0,
        "last_match": int(sample["last"]) if sample is not None and is_lazy_sample else 0,
        "used": None if used == NO_NOVELTY else used,
    }


def _chance(sample: Records, matching_before: int, policy: Novelty, t: int) -> float:
    """As it was at the end of the previous period: until a subscription matches again, its counts
    are what they were then."""
    ended = t // policy.period * policy.period
    if sample["last"] > ended:
        return float(sample["chance"])
    span = int(sample["last"] - sample["first"])
    return chance_of(policy, int(sample["matches"]), span, matching_before, ended)


def _period(highest: Arena, place: int, head: Records, policy: Novelty) -> list[Document]:
    """What is remembered of the present period: its highest novelties, and how many matches were
    delivered."""
    delivered, known = int(head["delivered"]), 0
    if policy.algorithm == "threshold":
        known = min(int(head["t"]) % policy.period, int(head["quota"]))
    novelties = highest.rows_of(place)["novelty"][:known].tolist()
    novelties += [0.0] * (delivered - known)
    return [_past(0, novelty, at < delivered, []) for at, novelty in enumerate(novelties)]


def _window(
    others: Sequence[Arena], place: int, head: Records, policy: Novelty, world: World
) -> list[Document]:
    """The last matches, as many as a period has."""
    _, recent, deliveries, pairs = others
    t, period = int(head["t"]), policy.period
    novelties = recent.rows_of(place)["novelty"] if policy.algorithm == "threshold" else None
    ring = deliveries.rows_of(place)["t"][: min(int(head["delivered"]), int(head["quota"]))]
    delivered = {*ring.tolist()}
    matched = defaultdict(list)
    if policy.algorithm == "sampling":
        bounds = pairs.heads[place]
        for pair in pairs.rows_of(place)[bounds["front"] : bounds["back"]]:
            if pair["subscription"] >= 0:
                name = world.subscriptions.name(int(pair["subscription"]))
                matched[int(pair["t"])].append(name)
    return [
        _past(
            each,
            0.0 if novelties is None else float(novelties[(each - 1) % period]),
            each in delivered,
            matched[each],
        )
        for each in range(max(t - period, 0) + 1, t + 1)
    ]


def _past(t: int, novelty: float, delivered: bool, subscriptions: list[str]) -> Document:
    return {"t": t, "novelty": novelty, "delivered": delivered, "subscriptions": subscriptions}
