"""Subscriptions come and go between batches of films, each batch timed."""

import gc
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from shortlist.model.subscription import Subscription

from .compiled import Compiled, subscription_id
from .movies import Movies
from .timing import core_timed

BATCH = 4096
"""Publications between changes."""
CHANGED = 256
"""How many come, and how many go, before each batch: enough that what is timed is not matching
alone."""
WARMING = 16
"""Rounds before the first that counts: by then every kernel was called once."""


def churn(compiled: Compiled, newcomers: Sequence[Subscription], movies: Movies) -> dict[str, Any]:
    """Lets newcomers take the places of the first subscriptions, batch by batch."""
    gc.freeze()  # as a deployment does with the registry that it begins with
    films = movies.first(BATCH)
    rounds = len(newcomers) // CHANGED - WARMING
    quiet = [_seconds(compiled, films) for _ in range(rounds)]
    busy, changing = [], []
    for place in range(0, (rounds + WARMING) * CHANGED, CHANGED):
        leaving = [subscription_id(number) for number in range(place, place + CHANGED)]
        coming = newcomers[place : place + CHANGED]
        changing.append(core_timed(partial(_change, compiled, leaving, coming))[1])
        busy.append(_seconds(compiled, films))
    busy, changing = busy[WARMING:], changing[WARMING:]
    seconds = sum(changing) + sum(busy)
    return {
        "batches": rounds,
        "changes_per_second": 2 * CHANGED * rounds / seconds,
        "publications_per_second": BATCH * rounds / seconds,
        "slowdown": float(np.median(busy) / np.median(quiet)),
        "worst_slowdown": max(busy) / float(np.median(quiet)),
        "worst_quiet": max(quiet) / float(np.median(quiet)),
    }


def _seconds(compiled: Compiled, films: Movies) -> float:
    return core_timed(lambda: list(compiled.blocks(films)))[1]


def _change(compiled: Compiled, leaving: list[str], coming: Sequence[Subscription]) -> None:
    for name in leaving:
        compiled.index.remove(name)
    for subscription in coming:
        compiled.index.add(subscription)
