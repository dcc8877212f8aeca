"""What shortlists show at an instant: the last policy of each that chooses says so, and those that
it looks through to."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from shortlist.selection.bank.selecting import BankSelecting, Stage
from shortlist.selection.bank.shown import NO_CONTENTS, Contents


def shortlist_contents(
    selecting: BankSelecting, numbers: Iterable[int], now: int, *, with_waiting: bool = True
) -> Contents:
    """What shortlists show; their numbers are the places."""
    places = defaultdict(list)
    for number in numbers:
        for depth, stage in showing(selecting.stages(number)):
            if with_waiting or not stage.policy.waits:
                places[depth, stage.kind].append(stage.place)
    found = [NO_CONTENTS]
    for (depth, kind), some in sorted(places.items()):
        level = selecting.levels[depth]
        shown = level.banks[kind].shown(np.array(some), now)
        found.append(shown._replace(places=level.owners(kind, shown.places)))
    return Contents.joined(found)


def showing(stages: Sequence[Stage]) -> list[tuple[int, Stage]]:
    """The stages that say what a shortlist shows, each with its place in the chain."""
    found: list[tuple[int, Stage]] = []
    for depth in reversed(range(len(stages))):
        found.insert(0, (depth, stages[depth]))
        if not stages[depth].policy.looks_through:
            break
    return found


def holders(selecting: BankSelecting, source: str, publication: str) -> set[int]:
    """The shortlists of which some policy holds a publication."""
    found: set[int] = set()
    for number in selecting.publications.named(source, publication):
        for level in selecting.levels:
            for kind, bank in level.banks.items():
                arena = bank.arenas[0]
                if arena.holds("publication"):
                    places = arena.holders("publication", number)
                    found.update(level.owners(kind, places).tolist())
    return found
