"""What shortlists show in bulk against what plain ones show, at every instant."""

import pytest

from shortlist.engine.contents import content
from shortlist.engine.replay import read_items
from shortlist.intake.files import registry_from_documents
from shortlist.model.settings import Settings
from tests.engine.mirrors import facts, in_bulk, live_in, plain, ticks
from tests.strategies import registry, seeded, seeds, timeline


def all_shown(halves, now):
    return {name: [*map(facts, content(halves, name, now))] for name in live_in(halves)}


def all_shown_plainly(halves, now):
    selector = halves.selecting.selector
    return {name: [*map(facts, selector(name).shown(now))] for name in live_in(halves)}


def play(one, time, items):
    for item in items:
        one.take(item)
    one.advance(time + 1)


def look(seed):
    """What is shown at every instant of a drawn timeline."""
    pick = seeded(seed)
    made = registry_from_documents(registry(pick))
    items, _ = read_items(made, timeline(pick, 60), Settings())
    one, other = in_bulk(made), plain(made)
    for time, some in ticks(items):
        play(one, time, some)
        play(other, time, some)
        if pick([False] * 20 + [True]):
            one.restore()
        shown = all_shown(one.shard, time)
        assert shown == all_shown_plainly(other.shard, time), (seed, time)


@pytest.mark.parametrize("part", range(4))
def test_bulk_shows_what_plain_shows(part):
    for seed in seeds(12)[part::4]:
        look(seed)
