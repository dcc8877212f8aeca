"""Windows in bulk against plain ones: 10^5 of them, each with a timeline of its own."""

from itertools import count

import pytest

from tests.selection.duels import duel
from tests.selection.windows import BANKS, PIECES, late, steady
from tests.selector_calls import candidate

WINDOWS = 100_000
CANDIDATES = [candidate, late, steady]


def counting(bank):
    """A bank that knows how many windows it had."""

    class Counting(bank):
        opened = 0

        def open(self, shortlist, policy):
            self.opened += 1
            return super().open(shortlist, policy)

    return Counting


@pytest.mark.soak
def test_no_difference_in_many_windows(capsys):
    windows = differences = 0
    for seed in count():
        if windows >= WINDOWS:
            break
        kind, bank, policy = BANKS[[*BANKS][seed % len(BANKS)]]
        bank = counting(bank)(piece=PIECES[seed % len(PIECES)])
        draw = CANDIDATES[seed % len(CANDIDATES)]
        try:
            duel(kind, bank, seed, 1000, 24, draw_policy=policy, draw_candidate=draw)
        except AssertionError:
            differences += 1
        windows += bank.opened
    with capsys.disabled():
        print(f"\n{windows} windows, {differences} differences")
    assert differences == 0
