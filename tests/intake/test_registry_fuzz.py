"""Whatever a registry holds, it is one or an `InvalidRegistry` with one short line per problem."""

import json

import yaml
from hypothesis import given
from hypothesis import strategies as st

from shortlist.intake.files import read_registry, registry_from_documents
from shortlist.intake.written import registry_document
from shortlist.model.problem import InvalidRegistry
from shortlist.model.wording import TOO_LONG
from tests.strategies import examples

GOOD = {
    "vocabulary": {
        "rent": {"type": "number", "terms": {"cheap": {"trapezoid": [None, None, 1, 2]}}},
        "title": {"idf": {"a": 1}, "many": False},
    },
    "shortlists": [
        {"id": "l", "subscriber": "x", "policy": {"kind": "top-k", "k": 1}, "prefers": [["s", "t"]]}
    ],
    "subscriptions": [
        {"id": "s", "shortlist": "l", "where": "rent is cheap", "norm": {"weights": [1]}},
        {"id": "t", "policy": {"kind": "window", "k": 1, "window": "1h"}, "profile": {"a": 1}},
        {
            "id": "u",
            "policy": [
                {"kind": "fresh", "k": 1, "window": None, "half_life": "1h"},
                {"kind": "diverse", "k": 1, "window": 9, "over": {"a": None, "b.c": 2.5}},
            ],
        },
    ],
    "advertisements": [{"id": "a", "source": "x", "k": 1, "score": "subscription.score"}],
}
TEXT = json.dumps(GOOD)
YAML = yaml.safe_dump(GOOD)

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None), max_size=5)
    | st.binary(max_size=3)
    | st.sampled_from(["l", "s", "rent is cheap", "1h", "5", "-1", 10**400, TOO_LONG])
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(scalars, inner, max_size=3),
    max_leaves=8,
)


def places(value, found):
    """Every object and list of a document, with the keys in it."""
    keys = value.keys() if isinstance(value, dict) else range(len(value))
    for key in list(keys):
        found.append((value, key))
        if isinstance(value[key], dict | list):
            places(value[key], found)
    return found


def check(read, *arguments):
    try:
        registry = read(*arguments)
    except InvalidRegistry as invalid:
        lines = str(invalid).split("\n")
    else:
        assert registry_from_documents(registry_document(registry)) == registry
        return
    assert all(line.isprintable() and len(line) < 1_000 for line in lines)


@examples(83)
@given(st.data(), st.lists(values, min_size=1, max_size=3), st.booleans())
def test_any_value_in_any_place(data, found, renamed):
    document = json.loads(TEXT)
    for value in found:
        holder, key = data.draw(st.sampled_from(places(document, [])))
        if renamed and isinstance(holder, dict):
            holder[data.draw(scalars)] = holder.pop(key)
        else:
            holder[key] = value
    check(registry_from_documents, document)


@examples(33)
@given(
    name=st.sampled_from(["r.yaml", "r.json"]),
    start=st.integers(0, len(YAML)),
    length=st.integers(0, 5),
    piece=st.binary(max_size=4)
    | st.sampled_from(
        [b"&a ", b"*a", b"!!int ", b"\t", b"- ", b"? ", b": ", b"<<: 5\n", b"0x_", b"1:5"]
    ),
)
def test_mutated_files(tmp_path_factory, name, start, length, piece):
    file = tmp_path_factory.getbasetemp() / name
    text = (YAML if name == "r.yaml" else TEXT).encode()
    file.write_bytes(text[:start] + piece + text[start + length :])
    check(read_registry, file)
