"""The rows of diverse windows: the chosen, then the ranked, then newcomers in no order.

The chosen stand in order of choice, the ranked by score, the higher first, then by publication, the
more recent first. A row that has left may still stand behind the chosen.
"""

import numpy as np

from shortlist.matching.arrays import Longs
from shortlist.matching.kernels.compiling import kernel
from shortlist.matching.kernels.rounding import round9
from shortlist.selection.bank.offers import Offers
from shortlist.selection.kernels.arena import Records, with_room
from shortlist.selection.kernels.window_rows import (
    WINDOW_ROW,
    full_life_of,
    merged_by_rank,
    write_offer,
)

HEAD = [
    ("k", "i4"),
    ("weight", "f8"),
    ("span", "i8"),  # the length of a time window, or NEVER
    ("count", "i8"),  # the length of a count window, or NEVER
    ("matches", "i8"),  # so far
    ("chosen", "i4"),  # how many rows are
    ("ranked", "i4"),  # how many rows are no newcomers
    ("next_due", "i8"),  # the first instant at which one of the chosen leaves
    ("next_push", "i8"),  # the first match that pushes out one of the chosen
    ("pruned", "i4"),  # how many rows the last pruning left
]
ROW = [
    *WINDOW_ROW,  # the key is the score
    ("push", "i8"),  # the match that pushes it out of a count window
    ("value", "f8"),  # what it was worth when it was chosen
]


@kernel
def value_of(weight: float, score: float, nearest: float) -> float:
    """What one is worth whose nearest of those chosen before is so far away."""
    return round9((1.0 - weight) * score + weight * nearest)


@kernel
def enter(
    heads: Records, rows: Records, tail: Longs, place: int, offers: Offers, offer: int
) -> Records:
    """Makes an offer the last row of a place; the answer is the rows, as of `with_room`."""
    rows = with_room(rows, heads, tail, place, heads[place].length + 1)
    head = heads[place]
    row = head.start + head.length
    full_life = full_life_of(offers.times[offer], head.span)
    write_offer(rows, row, offers, offer, offers.scores[offer], full_life)
    rows[row].push = full_life_of(head.matches, head.count)
    rows[row].value = 0.0
    head.length += 1
    return rows


@kernel
def put_in_order(heads: Records, rows: Records, place: int, step: int) -> None:
    """Puts the newcomers, and those chosen at a step or later, among the ranked."""
    head = heads[place]
    ranked = rows[head.start + head.chosen : head.start + head.ranked]
    given_up = head.chosen - step
    others = np.empty(given_up + head.length - head.ranked, rows.dtype)
    others[:given_up] = rows[head.start + step : head.start + head.chosen]
    others[given_up:] = rows[head.start + head.ranked : head.start + head.length]
    if others.size > 0:
        rows[head.start + step : head.start + head.length] = merged_by_rank(ranked, others)
    head.chosen, head.ranked = step, head.length


@kernel
def bring_forward(heads: Records, rows: Records, place: int, picked: Longs) -> None:
    """Makes some of the ranked the next of the chosen, in this order."""
    if picked.size == 0:
        return
    head = heads[place]
    first, held, last = head.start + head.chosen, rows[picked], picked.max()
    is_picked = np.zeros(last + 1 - first, np.bool_)
    is_picked[picked - first] = True
    to = last
    for row in range(last, first - 1, -1):
        if not is_picked[row - first]:
            rows[to] = rows[row]
            to -= 1
    rows[first : first + picked.size] = held
    head.chosen += picked.size
