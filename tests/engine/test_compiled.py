"""A shard that is opened does what one does that was made of the registry."""

import pytest

from shortlist.engine import saving as saving_module
from shortlist.engine.admission import Admission
from shortlist.engine.compiled import compiled, opened
from shortlist.engine.engine import Engine
from shortlist.engine.saved import Saved
from shortlist.engine.saving import Saving
from shortlist.engine.shard import Shard
from shortlist.intake.columns import RegistryColumns, saved_columns
from shortlist.intake.files import registry_from_documents, registry_read_again
from shortlist.intake.roster import Roster
from shortlist.matching.index.storage import open_parts, save_parts
from shortlist.model.command import Subscribe, Unsubscribe
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits, Settings
from shortlist.model.subscription import Subscription
from tests.engine.test_plain_copy import drawn, taken_in
from tests.strategies import seeds


def opened_from(folder, registry, limits):
    save_parts(folder, None, compiled(Shard(registry, limits)))
    return opened(open_parts(folder)[1], limits)


def delivered(shard, found):
    placed = shard.run(found.items, found.commands, until=found.until)
    return [shard.deliveries(each).to_pylist() for each in placed]


def restored(saved, folder, limits):
    """A shard with its state, opened with the registry as that has it packed."""
    shard = opened_from(folder, registry_read_again(saved.packed_document), limits)
    for command in saved.changes(shard.matching.vocabulary):
        shard.follow(command)
    saving = Saving(shard)
    saving.load(saved)
    return saving, shard


def play(seed, folder):
    pick, registry, settings, batches = drawn(seed)
    admission, shard = Admission(registry, settings), Shard(registry, settings.limits)
    other = opened_from(folder, registry, settings.limits)
    saving = Saving(other)
    for number, batch in enumerate([*batches, []]):
        found = taken_in(admission, batch, last=number == len(batches))
        assert delivered(other, found) == delivered(shard, found), (seed, number)
        assert other.counts == shard.counts
        assert other.matching.roster.registry() == shard.matching.roster.registry()
        saved = Saved.of_bytes(saving.saved().to_bytes())
        assert saved.registry == Saved.of_bytes(Saving(shard).saved().to_bytes()).registry
        again = pick(["no", "compiled", "kept"])
        if again == "kept" and not saved.document["changes"]:
            save_parts(folder / "again", None, compiled(other))
            other = opened(open_parts(folder / "again")[1], settings.limits)
            saving = Saving(other)
            saving.load(saved)
        elif again != "no":
            saving, other = restored(saved, folder / "again", settings.limits)
            assert other.matching.roster.registry() == shard.matching.roster.registry()


@pytest.mark.parametrize("part", range(4))
def test_an_opened_shard_does_what_one_does_that_was_made(part, tmp_path):
    for seed in seeds(16)[part::4]:
        play(seed, tmp_path)


def test_changes_stand_beside_a_registry_until_they_are_many(tmp_path, monkeypatch):
    monkeypatch.setattr(saving_module, "FEW_CHANGES", 3)
    monkeypatch.setattr(saving_module, "FEW_OF", 10**9)
    for seed in seeds(8):
        play(seed, tmp_path)


def test_changes_outlive_an_engine_that_is_restored_twice():
    settings = Settings(lateness=0)
    engine = Engine(registry_from_documents({"subscriptions": [{"id": "s1"}]}), settings)
    engine.snapshot()
    for number, name in enumerate(("s2", "s3")):
        made = Subscribe(time=number, position=number, subscription=Subscription(id=name))
        engine.process([made])
        engine = Engine.restore(engine.snapshot(), settings)
    live = Saved.of_bytes(engine.snapshot()).registry["subscriptions"]
    assert [each["id"] for each in live] == ["s1", "s2", "s3"]


def test_a_number_that_was_free_is_given_again():
    """Whoever leaves last has the highest number, which is the next one to be given."""
    names = [f"s{number}" for number in range(3)]
    flats = registry_from_documents({"subscriptions": [{"id": name} for name in names]})
    shard = Shard(flats, Limits())
    for name in names[1:]:
        shard.follow(Unsubscribe(time=0, position=0, subscription=name))
    again = opened(compiled(shard), Limits())
    for other in (shard, again):
        other.follow(Subscribe(time=0, position=0, subscription=Subscription(id="s9")))
    assert again.matching.roster.registry() == shard.matching.roster.registry()
    assert again.matching.shortlists.number("s9") == shard.matching.shortlists.number("s9")


def test_what_an_opened_shard_changes_is_its_own(tmp_path):
    for seed in seeds(4):
        play(seed, tmp_path)
        before = (tmp_path / "index.arrays").read_bytes()
        _, registry, settings, _ = drawn(seed)
        again = opened(open_parts(tmp_path)[1], settings.limits)
        assert again.matching.roster.registry() == Roster.of(registry).registry()
        assert (tmp_path / "index.arrays").read_bytes() == before


def test_columns_say_what_a_roster_says():
    for seed in seeds(12):
        registry = drawn(seed)[1]
        roster = Roster.of(registry)
        live = RegistryColumns(saved_columns(roster)).live()
        assert [*live.shortlists.items()] == [*roster.shortlists.items()]
        assert [*live.subscriptions.items()] == [*roster.subscriptions.items()]
        for name in roster.shortlists:
            assert [*live.members[name]] == roster.members(name)
        for wrong in ("", "nobody"):
            assert wrong not in live.shortlists
            with pytest.raises(KeyError):
                live.subscriptions[wrong]


def test_a_registry_of_nothing(tmp_path):
    shard = opened_from(tmp_path, Registry(), Limits())
    assert shard.matching.roster.registry() == Registry()


def test_opening_makes_no_object_for_a_subscription(tmp_path):
    wanted = [{"id": f"s{n}", "where": f"rent < {n}", "score": "rent"} for n in range(2_000)]
    registry = registry_from_documents({"subscriptions": wanted})
    shard = opened_from(tmp_path, registry, Limits())
    kept = shard.matching.roster.subscriptions._value._known
    assert len(kept) <= 1
