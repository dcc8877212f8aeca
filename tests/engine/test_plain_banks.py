"""Policies without a bank of their own run in the engine as those with one: all of them do here."""

import pytest

from shortlist.engine.engine import Engine
from shortlist.engine.replay import read_items
from shortlist.intake.files import registry_from_documents
from shortlist.model.settings import Settings
from shortlist.selection.bank import banks
from shortlist.selection.bank.plain import PlainBank
from tests.engine.test_bulk import CHAINS, everything_of, in_bulk, plain
from tests.engine.test_contents import look
from tests.engine.test_departures import follow
from tests.engine.test_merging import play as regroup
from tests.strategies import cuts, registry, seeded, timeline


@pytest.fixture(autouse=True)
def only_plain_banks(monkeypatch):
    monkeypatch.setattr(banks, "BANKS", {})


def drawn(seed):
    pick = seeded(seed)
    document = registry(pick)
    if pick([False, True]):
        for made in document["shortlists"]:
            made |= {"policy": pick(CHAINS)}
    made, settings = registry_from_documents(document), Settings(lateness=pick([0, 0, "1s"]))
    items, _ = read_items(made, timeline(pick, 60), settings)
    return pick, made, settings, items


def test_all_banks_are_plain_here():
    _, made, settings, _ = drawn(0)
    engine = Engine(made, settings)
    found = {type(bank) for level in engine.shard.selecting.levels for bank in level.banks.values()}
    assert found == {PlainBank}


@pytest.mark.parametrize("part", range(2))
def test_the_same_deliveries_whatever_the_batches_and_saves(part):
    for seed in range(10 * part, 10 * (part + 1)):
        pick, made, settings, items = drawn(seed)
        found = in_bulk(
            made,
            settings,
            cuts(pick, items),
            saved=lambda number, pick=pick: pick([False, True, True]),
        )
        assert everything_of(found) == everything_of(plain(made, settings, items)), seed


def test_the_same_deliveries_whatever_the_groups():
    for seed in range(8):
        regroup(seed)


def test_the_same_is_shown():
    for seed in range(6):
        look(seed)


def test_the_same_leaves():
    for seed in range(10):
        follow(seed)
