"""The banks of windows place what plain selectors place."""

import pytest

from tests.selection.duels import duel
from tests.selection.windows import BANKS, PIECES, late, steady


@pytest.mark.parametrize("name", BANKS)
def test_equal_to_plain_selectors(name):
    kind, bank, policy = BANKS[name]
    for seed in range(500):
        duel(kind, bank(piece=PIECES[seed % 5]), seed, draw_policy=policy)


@pytest.mark.parametrize("name", BANKS)
@pytest.mark.parametrize("draw_candidate", [late, steady])
def test_equal_on_long_runs(name, draw_candidate):
    kind, bank, policy = BANKS[name]
    for seed in range(60):
        duel(
            kind,
            bank(piece=PIECES[seed % 5]),
            seed,
            most=900,
            shortlists=2,
            draw_policy=policy,
            draw_candidate=draw_candidate,
        )
