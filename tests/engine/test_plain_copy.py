"""Reasons from a state equal those of an engine that has the same history."""

import pytest

from shortlist.engine.admission import Admission
from shortlist.engine.explanation import Question
from shortlist.engine.plain import PlainShard, plain_copy
from shortlist.engine.replay import read_items
from shortlist.engine.saved import Saved
from shortlist.engine.saving import Saving
from shortlist.engine.shard import Shard
from shortlist.intake.files import registry_from_documents, registry_read_again
from shortlist.intake.reading import items_of
from shortlist.matching.index.index import Index
from shortlist.model.command import Command
from shortlist.model.items import Wanted
from shortlist.model.policy import POLICIES
from shortlist.model.settings import Settings
from shortlist.selection.bank.banks import BANKS
from shortlist.selection.bank.plain_states import STATES
from tests.engine.test_bulk import CHAINS
from tests.strategies import cuts, registry, seeded, seeds, timeline


def drawn(seed):
    pick = seeded(seed)
    document = registry(pick)
    if pick([False, False, True]):
        for made in document["shortlists"]:
            made |= {"policy": pick(CHAINS)}
    made, settings = registry_from_documents(document), Settings(lateness=pick([0, 0, "1s"]))
    items, _ = read_items(made, timeline(pick, 60), settings)
    return pick, made, settings, cuts(pick, items)


def taken_in(admission, batch, last):
    commands = [item for item in batch if isinstance(item, Command)]
    wanted = admission.wanted_with(commands).joined(Wanted(data=True))
    return admission.admit(*items_of(batch, wanted), last)


def explained(shard, found):
    """But for what expired while it waited: plain selectors tell that later, at the release, and of
    what a bank has dropped by then nobody does."""
    deliveries = [*shard.run(found.items, found.commands, until=found.until)]
    told = shard.explainer.taken(deliveries)
    return deliveries, [each for each in told if "expired while it waited" not in each["reason"]]


def restored(shard, settings):
    saved = Saved.of_bytes(Saving(shard).saved().to_bytes())
    other = Shard(registry_read_again(saved.registry), settings.limits)
    Saving(other).load(saved)
    return other


def play(seed):
    """A shard and a plain one take the same in; after each batch a copy of the shard is made, and
    says of the next batch what the plain one says."""
    pick, made, settings, batches = drawn(seed)
    admission, shard = Admission(made, settings), Shard(made, settings.limits)
    plain = PlainShard(made, settings.limits, Index, Question())
    for number, batch in enumerate([*batches, []]):
        found = taken_in(admission, batch, last=number == len(batches))
        copy = plain_copy(shard, Question(), of_a_shard=False)
        assert explained(copy, found) == explained(plain, found), (seed, number)
        for _ in shard.run(found.items, found.commands, until=found.until):
            pass
        if pick([False, True]):
            shard = restored(shard, settings)


@pytest.mark.parametrize("part", range(4))
def test_reasons_from_a_state_are_those_of_its_history(part):
    for seed in seeds(12)[part::4]:
        play(seed)


def test_every_bank_tells_what_its_selectors_would_hold():
    told = {kind for kind in POLICIES if kind in STATES}
    assert told == {kind.split()[-1] for kind in BANKS}
