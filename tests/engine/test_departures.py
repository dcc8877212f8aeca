"""What leaves shortlists: a client that hears of it has what they show, at every instant."""

import pytest

from shortlist.engine.contents import content
from shortlist.engine.departures import Return
from shortlist.engine.replay import read_items
from shortlist.intake.files import registry_from_documents
from shortlist.model.settings import Settings
from tests.engine.mirrors import PlainReflection, Reflection, key_of, showing_in, ticks
from tests.engine.test_contents import facts
from tests.strategies import registry, seeded, timeline


def told(change):
    """A change as the plain reflection tells it."""
    if isinstance(change, Return):
        key = key_of(change.entry.publication)
        return change.time, change.shortlist, key, facts(change.entry)
    return change.time, change.shortlist, key_of(change.publication), change.reason


def kept_by_client(client):
    return {name: set(shown) for name, shown in client.items() if shown}


def shown_by(halves, now):
    shown = {
        name: {key_of(entry.publication) for entry in content(halves, name, now)}
        for name in showing_in(halves)
    }
    return {name: some for name, some in shown.items() if some}


@pytest.mark.parametrize("part", range(4))
def test_a_client_has_what_is_shown(part):
    for seed in range(50 * part, 50 * (part + 1)):
        pick = seeded(seed)
        made = registry_from_documents(registry(pick))
        items, _ = read_items(made, timeline(pick, 60), Settings())
        reflection, expected = Reflection(made), PlainReflection(made)
        for time, some in ticks(items):
            if pick([False] * 20 + [True]):
                reflection.restore(time)
            reflection.play(time, some)
            expected.play(time, some)
            assert kept_by_client(reflection.client) == shown_by(reflection.halves, time)
            assert [*map(told, reflection.changes)] == expected.changes, (seed, time)
