"""Live nouns as a client knows them: read on as commands are carried out, equal to read anew."""

import random

import pytest

from shortlist.client.deployment import Deployment as Client
from shortlist.client.deployment import LiveRegistry
from shortlist.client.nouns import CannotBecome, NotLive, live_noun, orders_for, read_noun
from shortlist.intake.roster import Roster
from shortlist.live import manifest
from shortlist.live.registers import NoDeployment
from shortlist.log.sqlite import SqliteLog
from shortlist.model.settings import Limits
from shortlist.model.times import format_time
from shortlist.model.vocabulary import Vocabulary
from tests.cli.programs import Deployment

REGISTRY = {
    "shortlists": [{"id": "flats", "subscriber": "you"}],
    "subscriptions": [{"id": "all", "shortlist": "flats"}],
}


def nouns(roster):
    words = roster.vocabulary.now()
    return roster.shortlists, roster.subscriptions, roster.advertisements, words


def defined(name, meaning):
    return {"define": {"attribute": "rent", "terms": {name: meaning}}}


def drawn(chance, number):
    name = chance.choice("abcde")
    return chance.choice(
        [
            {"subscribe": {"id": name, "where": f"rent < {number}"}},
            {"subscribe": {"id": name, "shortlist": "flats"}},
            {"unsubscribe": name},
            {"open": {"id": name, "subscriber": "you"}},
            {"close": name},
            {"update": {"subscription": name, "weight": number + 1}},
            {"advertise": {"id": name, "source": "ads", "k": number}},
            {"unadvertise": name},
            defined(name, {"trapezoid": [None, None, number, number + 1]}),
            defined(name, None),
            {"subscribe": {"id": name, "where": f"rent is {name}"}},
        ]
    )


@pytest.mark.parametrize("batches", [2, 128])
def test_what_is_read_on_is_what_is_read_anew(tmp_path, monkeypatch, batches):
    monkeypatch.setattr(manifest, "MOST_BATCHES", batches)
    deployment = Deployment(tmp_path, REGISTRY, shards=1)
    client = Client(deployment.log)
    live = LiveRegistry(client)
    chance, most = random.Random(batches), [0, 0]
    for batch in range(40):
        for number in range(chance.randrange(4)):
            moment = format_time(1_000_000 * (10 * batch + number))
            deployment.publish({"time": moment, **drawn(chance, number)})
        deployment.beat(format_time(1_000_000 * (10 * batch + 9)))
        deployment.step()
        assert live.ask(nouns) == nouns(client.roster())
        words = live.ask(nouns)[-1]
        assert client.vocabulary == words == Client(deployment.log).vocabulary
        counts = len(live.ask(nouns)[1]), len(words.of(("rent",)).terms)
        most = [max(pair) for pair in zip(most, counts, strict=True)]
    assert min(most) > 1


def test_without_a_deployment_nothing_is_known(tmp_path):
    with pytest.raises(NoDeployment):
        LiveRegistry(Client(SqliteLog(tmp_path / "city.log"))).ask(nouns)


def wanted(kind, **document):
    return read_noun(kind, document, Vocabulary(), Limits())


def test_orders_lead_from_what_is_live_to_what_is_wanted(tmp_path):
    roster = Client(Deployment(tmp_path, REGISTRY).log).roster()
    (made,) = orders_for(roster, "subscription", wanted("subscription", id="new", weight=2))
    assert (made.verb, made.content["weight"]) == ("subscribe", 2)
    assert orders_for(roster, "shortlist", wanted("shortlist", id="flats", subscriber="you")) == []
    changed = wanted("shortlist", id="flats", subscriber="you", combine="sum")
    (update,) = orders_for(roster, "shortlist", changed)
    assert (update.verb, update.content) == ("update", {"shortlist": "flats", "combine": "sum"})
    with pytest.raises(CannotBecome, match="stays with its shortlist"):
        orders_for(roster, "subscription", wanted("subscription", id="all", shortlist="other"))
    with pytest.raises(NotLive, match="there is no live advertisement 'offers'"):
        live_noun(roster, "advertisement", "offers")
    assert isinstance(roster, Roster)
