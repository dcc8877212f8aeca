"""What a bank holds of a shortlist, as the plain selector of that shortlist would: for reasons.

A bank keeps only what can still count. So does the state that is told here; what it leaves out
changes neither what is delivered nor why.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from shortlist.model.policy import (
    Cap,
    Chain,
    Digest,
    Diverse,
    Everything,
    Fresh,
    Novelty,
    Policy,
    Quiet,
    SinglePolicy,
    TopK,
    Window,
    policies_of,
)
from shortlist.scoring.combined import UNSET
from shortlist.scoring.match_sets import ALONE
from shortlist.selection.bank.arena import Arena
from shortlist.selection.bank.base import Bank
from shortlist.selection.bank.offers import NEVER
from shortlist.selection.bank.plain import PlainBank
from shortlist.selection.bank.plain_novelty import novelty_state
from shortlist.selection.bank.selecting import BankSelecting
from shortlist.selection.bank.world import World
from shortlist.selection.calendars import calendar_of, period_at
from shortlist.selection.kernels.arena import Records
from shortlist.selection.kernels.window_rows import DEGREES, DELIVERED, LASTING


def plain_state(selecting: BankSelecting, number: int, policy: Policy) -> Any:
    """What `Selector.restore` takes, of the shortlist that has this number and policy."""
    stages = iter(enumerate(selecting.stages[number]))
    states: list[Any] = []
    for each in policies_of(policy):
        if isinstance(each, Everything):
            states.append(None)
            continue
        depth, (kind, place, _) = next(stages)
        bank = selecting.levels[depth].banks[kind]
        states.append(_state(bank, place, each, selecting.world))
    return states if isinstance(policy, Chain) else states[0]


def _state(bank: Bank, place: int, policy: SinglePolicy, world: World) -> Any:
    if isinstance(bank, PlainBank):
        return bank.state(place)
    return STATES[type(policy)](_Kept(bank.arenas, place, policy, world))


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


STATES: dict[type[SinglePolicy], Callable[[_Kept], Any]] = {
    TopK: _valid,
    Window: _window,
    Fresh: _window,
    Diverse: _window,
    Novelty: lambda kept: novelty_state(*kept),
    Digest: _waiting,
    Quiet: _waiting,
    Cap: _cap,
}
"""Of every policy that has a bank of its own."""


def _record(row: Records, score: float, world: World) -> list[Any]:
    """A row of what windows and digests hold, as `candidate_record` writes a candidate."""
    named = int(row["subscription"])
    degrees = float(row["possibility"] / DEGREES), float(row["necessity"] / DEGREES)
    matches = []
    if row["matched"] != ALONE:
        sets = world.sets.sets
        first, end = sets.offsets[row["matched"] :][:2].tolist()
        matches = [
            _match(world, number, score, high, low)
            for number, high, low in zip(
                sets.subscriptions[first:end].tolist(),
                sets.possibilities[first:end].tolist(),
                sets.necessities[first:end].tolist(),
                strict=True,
            )
        ]
    publication = world.publications[int(row["publication"])]
    return [publication, score, _match(world, named, score, *degrees), matches]


def _match(world: World, number: int, score: float, high: float, low: float) -> list[Any]:
    """A `ScoredMatch`; weights are not asked for behind scores."""
    refresh = int(world.subscriptions.refreshes()[number])
    span = None if refresh == UNSET else refresh
    return [world.subscriptions.name(number), score, high, low, 1.0, span]


def _instant(end: int) -> int | None:
    return None if end >= NEVER else end
