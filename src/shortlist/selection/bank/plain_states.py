"""What a bank holds of a shortlist, as the plain selector of that shortlist would: for reasons.

A bank keeps only what can still count. So does the state that is told here; what it leaves out
changes neither what is delivered nor why.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from shortlist.model.policy import Chain, Everything, Novelty, Policy, SinglePolicy, policies_of
from shortlist.selection.bank.arena import Arena
from shortlist.selection.bank.base import Bank
from shortlist.selection.bank.offers import NEVER
from shortlist.selection.bank.plain import PlainBank
from shortlist.selection.bank.selecting import BankSelecting
from shortlist.selection.bank.world import World
from shortlist.selection.calendars import calendar_of, period_at
from shortlist.selection.kernels.arena import Records
from shortlist.selection.kernels.novelty_memory import NO_NOVELTY
from shortlist.selection.kernels.window_rows import DEGREES, DELIVERED, LASTING
from shortlist.selection.novelty import chance_of
from shortlist.selection.records import candidate_record


def plain_state(selecting: BankSelecting, number: int, policy: Policy) -> Any:
    """What `Selector.restore` takes, of the shortlist that has this number and policy."""
    stages = iter(enumerate(selecting.stages(number)))
    states: list[Any] = []
    for each in policies_of(policy):
        if isinstance(each, Everything):
            states.append(None)
            continue
        depth, (kind, place) = next(stages)
        bank = selecting.levels[depth].banks[kind]
        states.append(_state(bank, place, each, selecting.world))
    return states if isinstance(policy, Chain) else states[0]


def _state(bank: Bank, place: int, policy: SinglePolicy, world: World) -> Any:
    if isinstance(bank, PlainBank):
        return bank.state(place)
    return STATES[policy.kind](_Kept(bank.arenas, place, policy, world))


class _Kept(NamedTuple):
    """What a bank keeps of one shortlist."""

    arenas: Sequence[Arena]
    place: int
    policy: Any
    world: World

    @property
    def head(self) -> Any:
        return self.arenas[0].heads[self.place]

    @property
    def rows(self) -> Records:
        return self.arenas[0].rows_of(self.place)


def _valid(kept: _Kept) -> Any:
    rows = kept.rows
    return [
        [kept.world.publications[number], score, _instant(end)]
        for number, score, end in sorted(
            zip(*(rows[name].tolist() for name in ("publication", "score", "end")), strict=True)
        )
    ]


def _window(kept: _Kept) -> Any:
    window, matches = kept.policy.window, int(kept.head["matches"])
    count = window if isinstance(window, int) else None
    held = {_turn(row, count): _held(row, kept) for row in kept.rows}
    if count is None or not held:
        return {"matches": matches, "held": [*held.values()]}
    # a count window counts its matches, of which those that cannot come back are not known
    record, *_ = next(iter(held.values()))
    gone = [record, True, False, 0, None]
    turns = range(min(held), matches + 1)
    return {"matches": matches, "held": [held.get(turn, gone) for turn in turns]}


def _turn(row: Records, count: int | None) -> int:
    """The match that it came with, in a count window; else what tells rows apart."""
    return int(row["publication"]) if count is None else int(row["push"]) - count


def _held(row: Records, kept: _Kept) -> list[Any]:
    """A row of a window, as selectors have it: when it came is known up to what ends its stay."""
    score = float(row["score" if "score" in (row.dtype.names or ()) else "key"])
    end, span = int(row["end"]), int(kept.head["span"])
    ends_with_window = bool(row["marks"] & LASTING) and span < NEVER // 2
    came = end - span if span < NEVER // 2 else 0
    expiry = None if ends_with_window else _instant(end)
    was_delivered = bool(row["marks"] & DELIVERED)
    return [_record(row, score, kept.world), was_delivered, True, came, expiry]


def _waiting(kept: _Kept) -> dict[str, Any]:
    rows = kept.rows
    due = int(kept.head["next_due"]) if rows.size else 0
    records = [_record(row, float(row["key"]), kept.world) for row in rows]
    records.sort(key=lambda record: record[0].position)
    return {"due": due, "waiting": [[record, record[0].time] for record in records]}


def _cap(kept: _Kept) -> list[int]:
    end, passed = int(kept.head["end"]), int(kept.head["passed"])
    period = None if end == -NEVER else period_at(calendar_of(kept.policy), end - 1)
    return [end if period is None else period.begin, end, passed]


STATES: dict[str, Callable[[_Kept], Any]] = {
    "top-k": _valid,
    "window": _window,
    "fresh": _window,
    "diverse": _window,
    "novelty": lambda kept: novelty_state(*kept),
    "digest": _waiting,
    "quiet": _waiting,
    "cap": _cap,
}
"""Of every policy that has a bank of its own."""


def _record(row: Records, score: float, world: World) -> list[Any]:
    """A row of what windows and digests hold."""
    names = ("publication", "subscription", "matched")
    publication, named, matched = (int(row[name]) for name in names)
    degrees = float(row["possibility"] / DEGREES), float(row["necessity"] / DEGREES)
    known = publication, score, named, *degrees, matched
    return candidate_record(world.candidate("", world.sets.sets, *known))


def _instant(end: int) -> int | None:
    return None if end >= NEVER else end


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
    past = _last_matches(others, place, head, policy, world) if policy.mode == "eager" else None
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


def _last_matches(
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
