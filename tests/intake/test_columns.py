"""A mapping over columns is a dict, whatever is done to it."""

from random import Random

import pytest

from shortlist.intake.columns import (
    ColumnMapping,
    Ids,
    RegistryColumns,
    live_documents,
    registry_text,
    saved_columns,
)
from shortlist.intake.files import registry_from_documents, registry_read_again
from shortlist.intake.json_text import parse_bytes
from shortlist.intake.roster import Roster
from shortlist.intake.written import registry_document
from shortlist.matching.index.numbering import SavedNumbers
from shortlist.matching.index.texts import Texts

NAMES = [f"s{number}" for number in range(12)]


def test_it_is_a_dict_in_its_order():
    for seed in range(200):
        draw = Random(seed)
        known = {name: number for number, name in enumerate(NAMES[: draw.randrange(9)])}
        texts = Texts.plain(map(str, known.values()))
        mapping = ColumnMapping(Ids(SavedNumbers.of([*known])), int, texts)
        for step in range(60):
            name = draw.choice(NAMES)
            match draw.randrange(3):
                case 0:
                    known[name] = mapping[name] = 100 + step
                case 1 if name in known:
                    del known[name], mapping[name]
                case _:
                    assert known.get(name) == mapping.get(name)
            assert (name in mapping) == (name in known)
            assert [*mapping.items()] == [*known.items()]
            assert [*mapping.values()] == [*known.values()]
            assert [*mapping] == [*known]
            assert len(mapping) == len(known)
            told = [(name, str(known[name]) if text else None) for name, text in mapping.texts()]
            assert told == [*mapping.texts()]
            assert [name for name, _ in told] == [*known]


def test_what_is_not_there_cannot_be_had():
    mapping = ColumnMapping(Ids(SavedNumbers.of(["a"])), int)
    del mapping["a"]
    for name in ("a", "b"):
        with pytest.raises(KeyError):
            mapping[name]
        with pytest.raises(KeyError):
            del mapping[name]


LARGE = 2**70
REGISTRY = {
    "vocabulary": {"rent": {"type": "number", "terms": {"cheap": {"trapezoid": [0, 0, 9, 12]}}}},
    "shortlists": [
        {"id": "anna", "subscriber": "Anna", "prefers": [["s2", "s1"]]},
        {"id": "many", "subscriber": "Ć", "policy": {"kind": "top-k", "k": LARGE}},
    ],
    "subscriptions": [
        {"id": "s1", "shortlist": "anna", "where": "rent is cheap"},
        {"id": "s2", "shortlist": "own"},
        {
            "id": "own",
            "where": "city = 'Ås'",
            "score": "-rent",
            "policy": {"kind": "window", "k": 3, "window": "1h"},
        },
        {"id": "s3", "shortlist": "many", "norm": {"weights": [1.0]}, "where": "rent < 5"},
    ],
    "advertisements": [{"id": "ad", "source": "x", "k": 7}],
}


def test_columns_hold_all_of_a_registry():
    registry = registry_from_documents(REGISTRY)
    roster = Roster.of(registry)
    columns = RegistryColumns(saved_columns(roster))
    assert columns.rest.vocabulary == registry.vocabulary
    assert columns.rest.advertisements == registry.advertisements
    live = Roster(registry.vocabulary, live=columns.live())
    for advertisement in columns.rest.advertisements:
        live.advertisements[advertisement.id] = advertisement
    assert live.registry() == roster.registry()
    for each in (roster, live):
        assert registry_read_again(parse_bytes(registry_text(each))) == roster.registry()
    documents = registry_document(roster.registry())["subscriptions"]
    assert [*live_documents(live.subscriptions)] == documents
