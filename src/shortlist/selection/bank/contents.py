"""What shortlists show at an instant: the last policy of each that chooses says so."""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from shortlist.selection.bank.selecting import BankSelecting
from shortlist.selection.bank.shown import NO_CONTENTS, Contents


def shortlist_contents(selecting: BankSelecting, numbers: Iterable[int], now: int) -> Contents:
    """What shortlists show; their numbers are the places."""
    places = defaultdict(list)
    for number in numbers:
        stages = selecting.stages[number]
        if stages:
            places[len(stages) - 1, stages[-1].kind].append(stages[-1].place)
    found = [NO_CONTENTS]
    for (depth, kind), some in places.items():
        level = selecting.levels[depth]
        shown = level.banks[kind].shown(np.array(some), now)
        found.append(shown._replace(places=level.owners(kind, shown.places)))
    return Contents.joined(found)


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
