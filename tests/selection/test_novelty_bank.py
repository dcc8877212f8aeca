"""The bank of `novelty` places what the plain selector places."""

from shortlist.model.policy import Novelty
from shortlist.selection.bulk.novelty import NoveltyBank
from tests.selection.duels import duel

TIMELINES = 3_000


def test_equals_plain_selectors():
    bank = NoveltyBank()  # one for all, so that places are used again and again
    for seed in range(TIMELINES):
        duel(Novelty, bank, seed)
