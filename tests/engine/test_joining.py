"""A registry that is compiled in pieces is the one that subscriptions make one after the other."""

import json

import numpy as np
import pytest

from shortlist.engine.admission import Admission
from shortlist.engine.compiled import compiled, joining, opened
from shortlist.engine.shard import Shard
from shortlist.intake.files import registry_from_documents, registry_read_again
from shortlist.intake.roster import Roster
from shortlist.intake.written import registry_document
from shortlist.matching.index.numbering import SavedNumbers
from shortlist.matching.index.storage import in_memory, open_parts, save_parts
from shortlist.matching.index.texts import Texts
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits, Settings
from tests.engine.test_compiled import delivered
from tests.engine.test_plain_copy import drawn, taken_in
from tests.strategies import seeds

CUTS = (1, 2, 3, 7, 1_000)


def pieced(registry, limits, cut, folder):
    save_parts(folder, None, joining(registry_document(registry), limits, cut).shard())
    return opened(open_parts(folder)[1], limits)


def play(seed, cut, folder):
    _, registry, settings, batches = drawn(seed)
    admission, shard = Admission(registry, settings), Shard(registry, settings.limits)
    other = pieced(registry, settings.limits, cut, folder)
    assert other.matching.roster.registry() == shard.matching.roster.registry()
    for number, batch in enumerate([*batches, []]):
        found = taken_in(admission, batch, last=number == len(batches))
        assert delivered(other, found) == delivered(shard, found), (seed, cut, number)
        assert other.tallies == shard.tallies
        assert other.matching.roster.registry() == shard.matching.roster.registry()


@pytest.mark.parametrize("cut", CUTS)
def test_every_cut_delivers_the_same(cut, tmp_path):
    for seed in seeds(6):
        play(seed, cut, tmp_path)


NOVELTY = {"kind": "novelty", "rate": 0.2, "period": 20}
REGISTRY = {
    "shortlists": [
        {"id": "anna", "subscriber": "Anna", "prefers": [["s2", "s1"]], "combine": "sum"},
        {"id": "nobody", "subscriber": "x", "policy": {"kind": "top-k", "k": 2**70}},
    ],
    "subscriptions": [
        {"id": "s1", "shortlist": "anna", "where": "rent < 5", "score": "relevance(title, 'a b')"},
        {"id": "s2", "shortlist": "own", "score": "-distance(x: 1)"},
        {"id": "near", "score": "-distance(x: 3, y: 4)", "policy": {"kind": "top-k", "k": 1}},
        {"id": "own", "where": "city = 'Ås'", "score": 0.5, "policy": NOVELTY},
        {"id": "s3", "shortlist": "anna", "where": "rent < 5", "refresh": "90m", "weight": 2.5},
        {"id": "s4", "shortlist": "own", "score": "relevance(title, 'b c')", "subscriber": None},
        {"id": "s5", "where": "x = 1", "subscriber": 'Zoë "Z"', "at_least": {"score": 3}},
    ],
    "advertisements": [{"id": "ad", "source": "x", "k": 7, "score": "rent"}],
}


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("finds", [True, False])
def test_what_is_known_by_number_is_the_same(cut, finds):
    """But for how conditions and scores lie in memory."""
    made, limits = registry_from_documents(REGISTRY), Limits()
    plain = in_memory(compiled(Shard(made, limits, finds=finds)))
    found = in_memory(joining(registry_document(made), limits, cut).shard(finds=finds))
    assert_same(found["columns"], plain["columns"])
    for name in ("combining", "census", "shortlists"):
        assert_same(found["matching"][name], plain["matching"][name])


@pytest.mark.parametrize("cut", CUTS)
def test_admissions_know_what_is_mentioned(cut):
    made = registry_from_documents(REGISTRY)
    plain = Admission(made, Settings())
    parts = in_memory(joining(registry_document(made), Limits(), cut).admission())
    assert parts["mentions"]["diverse"] == plain.mentions.saved()["diverse"]
    paths = {tuple(path): count for path, count in parts["mentions"]["paths"]}
    assert paths == {tuple(path): count for path, count in plain.mentions.saved()["paths"]}


@pytest.mark.parametrize("cut", CUTS)
def test_the_text_is_the_registry(cut):
    made = registry_from_documents(REGISTRY)
    text = b"".join(joining(registry_document(made), Limits(), cut).text())
    assert registry_read_again(json.loads(text)) == Roster.of(made).registry()
    nothing = b"".join(joining(registry_document(Registry()), Limits()).text())
    assert registry_read_again(json.loads(nothing)) == Registry()


def assert_same(ours, theirs):
    """Arrays may have room for more."""
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for name in theirs:
            assert_same(ours[name], theirs[name])
    elif isinstance(theirs, np.ndarray):
        size = min(len(ours), len(theirs))
        assert ours[:size].tolist() == theirs[:size].tolist()
        assert not ours[size:].any()
        assert not theirs[size:].any()
    elif isinstance(theirs, Texts):
        assert [*ours] == [*theirs]
    elif isinstance(theirs, SavedNumbers):
        assert [*ours.names] == [*theirs.names]
        assert [ours.find(name) for name in ours.names] == [*range(len(ours.names))]
    elif isinstance(theirs, list | tuple):
        assert sorted(map(repr, ours)) == sorted(map(repr, theirs))
    else:
        assert ours == theirs
