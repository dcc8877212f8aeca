"""Qualitative preferences: from "this rather than that" to levels."""

from collections.abc import Collection, Sequence
from graphlib import CycleError, TopologicalSorter

Preferences = Sequence[tuple[str, str]]


def preference_cycle(prefers: Preferences) -> list[str] | None:
    """The cycle that makes preferences meaningless, if there is one; from its smallest id on.

    >>> preference_cycle([("a", "b"), ("b", "a")])
    ['a', 'b', 'a']
    >>> preference_cycle([("a", "b"), ("a", "c")]) is None
    True
    """
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for winner, loser in prefers:
        sorter.add(loser, winner)
    try:
        sorter.prepare()
    except CycleError as error:
        around = error.args[1][1:]
        start = around.index(min(around))
        return [*around[start:], *around[: start + 1]]
    return None


def levels(prefers: Preferences, present: Collection[str]) -> dict[str, int]:
    """Repeated winnow: level 1 is what nothing is preferred to, level 2 what only that is, …

    Pairs that name something not present are left aside.

    >>> levels([("a", "b"), ("b", "c"), ("x", "a")], ["a", "b", "c", "d"])
    {'a': 1, 'b': 2, 'c': 3, 'd': 1}
    """
    better: dict[str, list[str]] = {subscription: [] for subscription in sorted(present)}
    for winner, loser in prefers:
        if winner in better and loser in better:
            better[loser].append(winner)
    found: dict[str, int] = {}
    for subscription in TopologicalSorter(better).static_order():
        found[subscription] = 1 + max((found[winner] for winner in better[subscription]), default=0)
    return {subscription: found[subscription] for subscription in better}
