"""A bank that adopts a plain selector's state, as it was in version 1, goes on as that does."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.model.policy import Novelty, TopK, Window
from shortlist.selection.bank.adopted import ADOPT, Known
from shortlist.selection.bank.banks import BANKS, bank_kind
from shortlist.selection.preferential import PreferentialSelector
from shortlist.selection.records import KEPT
from shortlist.selection.window import WindowSelector
from tests.selection.duels import Player, anyone, bank_rows, offers_of, plain_row
from tests.selector_calls import POLICIES, calls, window
from tests.strategies import drawn, examples, seeded

STREAMS = 2_000
NUMBERS = {"a": 7, "b": 3, "c": 5}

every_kind = pytest.mark.parametrize(
    "kind", [TopK, Window, Novelty], ids=lambda kind: kind.__name__
)


def old_state(plain):
    """The state of a plain selector as JSON had it in version 1."""
    state = plain.state()
    if isinstance(plain, WindowSelector):
        state = [
            [[publication_record(publication), score, named[:5]], delivered, inside]
            for (publication, score, named, _), delivered, inside, *_ in state["held"]
        ]
    elif isinstance(plain, PreferentialSelector):
        state = [[kept.source, kept.id, score, end] for kept, score, end in state]
    return json.loads(json.dumps(state))


def publication_record(publication):
    return [getattr(publication, name) for name in KEPT]


def old_calls(pick, most):
    """Nothing was taken back when there was a version 1."""
    return [call for call in calls(pick, most) if call[0] != "retract"]


def publication_number(publication):
    return publication.position


class Banks:
    """One of each kind for all streams, so that places are used again and again."""

    def __init__(self):
        self._banks = {kind: make(anyone()) for kind, make in BANKS.items()}

    def adopt(self, policy, plain):
        """A bank, and a player in it with what a plain selector holds."""
        kind = bank_kind(policy)
        bank = self._banks[kind]
        player = Player("list", policy, bank.open("list", policy), NUMBERS)
        player.plain = plain
        known = Known(publication_number, player.numbers.__getitem__)
        ADOPT[kind](bank, player.place, old_state(plain), known)
        return bank, player


def play(plain, call, *arguments):
    """What a plain selector places at a call."""
    found = getattr(plain, call)(*arguments)
    return found.placements if call == "arrive" else found


def answer(bank, player, call, *arguments):
    """What a bank places at a call."""
    match call, arguments:
        case "cancel", (letter, time):
            return bank.cancel(player.place, player.numbers[letter], time)
        case "settle", (time,):
            return bank.close(player.place, time)
    return bank.advance(*arguments)


def check(player, placed, found):
    assert bank_rows(found, [player]) == [plain_row(player, each) for each in placed]


def go_on(bank, player, some, is_cut):
    """Calls to both; arrivals come to the bank in blocks, which end where `is_cut` says so."""
    block, placed = [], []
    for call in some:
        if block and (call[0] != "arrive" or is_cut()):
            check(player, placed, bank.arrive(*offers_of(block)))
            block, placed = [], []
        if call[0] == "arrive":
            placed += play(player.plain, *call)
            block.append((player, *call[1:]))
        else:
            check(player, play(player.plain, *call), answer(bank, player, *call))


def adopted_halfway(banks, policy, some, cut, is_cut):
    plain = Player("list", policy, 0, NUMBERS).plain
    for call in some[:cut]:
        play(plain, *call)
    bank, player = banks.adopt(policy, plain)
    go_on(bank, player, some[cut:], is_cut)
    if some[cut:] and some[-1][0] != "settle":
        bank.close(player.place, 0)


@every_kind
def test_a_bank_goes_on_where_a_plain_selector_stopped(kind):
    banks = Banks()
    for seed in range(STREAMS):
        pick = seeded(seed)
        policy, some = POLICIES[kind](pick), old_calls(pick, most=80)
        cut = pick(range(len(some)))
        adopted_halfway(banks, policy, some, cut, lambda pick=pick: pick([False, False, True]))


def test_a_window_with_an_error_is_judged_from_its_last_arrival_on():
    """The error is so small that only a cancellation lets in what was dropped."""
    banks = Banks()
    for seed in range(STREAMS // 4):
        pick = seeded(seed)
        policy = replace(window(pick), error=1e-12)
        some = [call for call in old_calls(pick, most=80) if call[0] != "cancel"]
        adopted_halfway(banks, policy, some, pick(range(len(some))), lambda: False)


@every_kind
@examples(100)
@given(data=st.data())
def test_streams_that_shrink(kind, data):
    policy = data.draw(drawn(POLICIES[kind])())
    some = data.draw(drawn(old_calls)(most=12))
    adopted_halfway(Banks(), policy, some, data.draw(st.integers(0, len(some) - 1)), lambda: True)
