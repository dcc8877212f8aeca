"""Nouns at the edges of what they may be at most, read one by one and in bulk."""

import pytest

from shortlist.intake.documents import Documents
from shortlist.intake.entries import EntryReader
from shortlist.intake.files import registry_from_documents
from shortlist.intake.given import Given
from shortlist.intake.lines import BadItem, ItemReader
from shortlist.live.replaying import OVER_A_LIMIT
from shortlist.model.problem import InvalidRegistry
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary
from tests.strategies import seeded

LIMITS = Limits(
    id_length=4,
    policies=2,
    held=5,
    diverse_k=3,
    diverse_attributes=2,
    mentions=3,
    audience_length=9,
)
TOP = {"kind": "top-k", "k": 5}


def diverse(k=3, window="1h", over="ab"):
    return {"kind": "diverse", "k": k, "window": window, "over": dict.fromkeys(over, 1)}


def problems(kind, **document):
    """What is wrong with a noun, without its name."""
    documents = Documents(limits=LIMITS)
    documents.read(kind, document)
    return [str(problem.within(id="")) for problem in documents.problems]


WITHIN = [
    ("subscription", {"id": "abcd", "shortlist": "éøåæ"}),
    ("subscription", {"id": "s", "subscriber": "abcd", "policy": [TOP, TOP]}),
    ("subscription", {"id": "s", "policy": diverse()}),
    ("subscription", {"id": "s", "where": "a = 1 and b = 2 and a > 0", "score": "a + c.d"}),
    ("subscription", {"id": "s", "where": "a = 1", "score": "c", "policy": diverse(over="ab")}),
    ("shortlist", {"id": "s", "subscriber": "abcd", "prefers": [["abcd", "b"]]}),
    (
        "shortlist",
        {"id": "s", "subscriber": "a", "policy": {"kind": "window", "k": 5, "window": 5}},
    ),
    (
        "shortlist",
        {"id": "s", "subscriber": "a", "policy": {"kind": "top-k", "k": 1, "period": "1d"}},
    ),
    (
        "shortlist",
        {"id": "s", "subscriber": "a", "policy": {"kind": "novelty", "rate": 1, "period": 5}},
    ),
    (
        "shortlist",
        {"id": "s", "subscriber": "a", "policy": {"kind": "cap", "most": 99, "per": "1d"}},
    ),
    ("advertisement", {"id": "abcd", "source": "abcd", "k": 99, "score": "a + b + c"}),
]
LONG, MANY = "expected at most 4 characters, found 5", "expected at most 5 publications, found 6"
BEYOND = [
    ("subscription", {"id": "abcde"}, [f"id: {LONG}"]),
    ("subscription", {"id": "s", "shortlist": "éøåæs"}, [f"shortlist: {LONG}"]),
    ("subscription", {"id": "s", "subscriber": "abcde"}, [f"subscriber: {LONG}"]),
    (
        "subscription",
        {"id": "s", "policy": [TOP] * 3},
        ["policy: expected at most 2 policies in a chain, found 3"],
    ),
    (
        "subscription",
        {"id": "s", "policy": [TOP, diverse(k=4)]},
        ["policy[1].k: expected at most 3 publications, found 4"],
    ),
    ("subscription", {"id": "s", "policy": diverse(window=6)}, [f"policy.window: {MANY}"]),
    (
        "subscription",
        {"id": "s", "policy": diverse(over="abc")},
        ["policy.over: expected at most 2 attributes, found 3"],
    ),
    (
        "subscription",
        {"id": "s", "where": "a = 1 and b = 2", "score": "c + d"},
        ["where, score and policy: expected at most 3 different attributes, found 4"],
    ),
    (
        "subscription",
        {"id": "s", "where": "a = 1", "score": "min(d, 1)", "policy": diverse(over="bc")},
        ["where, score and policy: expected at most 3 different attributes, found 4"],
    ),
    ("shortlist", {"id": "abcde", "subscriber": "abcde"}, [f"id: {LONG}", f"subscriber: {LONG}"]),
    (
        "shortlist",
        {"id": "s", "subscriber": "a", "prefers": [["a", "abcde"]]},
        [f"prefers: {LONG}"],
    ),
    ("shortlist", {"id": "s", "subscriber": "a", "policy": {**TOP, "k": 6}}, [f"policy.k: {MANY}"]),
    (
        "shortlist",
        {"id": "s", "subscriber": "a", "policy": {**TOP, "k": 10**30}},
        ["policy.k: expected at most 5 publications, found more than 10^18"],
    ),
    (
        "shortlist",
        {"id": "s", "subscriber": "a", "policy": {"kind": "window", "k": 1, "window": 6}},
        [f"policy.window: {MANY}"],
    ),
    (
        "shortlist",
        {"id": "s", "subscriber": "a", "policy": {"kind": "novelty", "rate": 1, "period": 6}},
        [f"policy.period: {MANY}"],
    ),
    ("advertisement", {"id": "a", "source": "abcde", "k": 1, "score": 1}, [f"source: {LONG}"]),
    (
        "advertisement",
        {"id": "a", "source": "a", "k": 1, "score": "a + b + cd"},
        ["score: column 10: the text has 10 characters; at most 9 are allowed"],
    ),
    (
        "advertisement",
        {"id": "a", "source": "a", "k": 1, "where": "a = 1 and b = 1", "score": "c + d"},
        ["where, score and policy: expected at most 3 different attributes, found 4"],
    ),
]


@pytest.mark.parametrize(("kind", "document"), WITHIN)
def test_what_is_within_its_limits(kind, document):
    assert problems(kind, **document) == []


@pytest.mark.parametrize(("kind", "document", "expected"), BEYOND)
def test_what_is_beyond_a_limit(kind, document, expected):
    assert problems(kind, **document) == expected
    assert all(map(OVER_A_LIMIT.search, expected))  # a replay knows rejects of limits by that
    with pytest.raises(InvalidRegistry) as bad:
        registry_from_documents({f"{kind}s": [document]}, LIMITS)
    assert [str(one).partition(f"{document['id']!r}: ")[2] for one in bad.value.problems][
        : len(expected)
    ] == expected
    # what was accepted once is read, whatever the limits are now
    read = Documents(limits=LIMITS.for_what_was_read())
    assert read.read(kind, document) is not None


def test_a_command_is_judged_as_the_registry_is():
    read = ItemReader(Vocabulary(), LIMITS)
    verbs = {"subscription": "subscribe", "shortlist": "open", "advertisement": "advertise"}
    for kind, document, expected in BEYOND:
        with pytest.raises(BadItem) as bad:
            read.document({"time": "2026-03-01T12:00:00Z", verbs[kind]: document}, 1)
        assert all(one in str(bad.value) for one in expected)


def drawn(pick):
    own = {
        "id": pick(["s", "abcd", "abcde", "éøåæ", "éøåæs"]),
        "where": pick([None, "a = 1", "a = 1 and b = 2", "a = 2 or b = 2", "not d exists"]),
        "score": pick([None, 0.5, "c", "a + b", "c + d", "min(c, d, 1)"]),
    }
    policies = [
        None,
        TOP,
        {**TOP, "k": 6},
        diverse(),
        diverse(k=4),
        diverse(over="cd"),
        diverse(over="abc"),
    ]
    policy = pick([*policies, [TOP, diverse(over="cd")], [TOP] * 3])
    own |= pick([{"shortlist": pick(["s", "abcde"])}, {"policy": policy}, {"policy": policy}])
    own |= pick([{}, {}, {"subscriber": pick(["abcd", "abcde"])}])
    return {name: value for name, value in own.items() if value is not None}


def test_in_bulk_the_same_is_refused_as_one_by_one():
    for seed in range(60):
        pick = seeded(seed)
        some = [drawn(pick) for _ in range(12)]
        entries = EntryReader(Documents(limits=LIMITS)).read(
            Given.of_documents(some), lambda row: ("f", row)
        )
        found = [(row, str(problem)) for row, problem in entries.problems]
        expected = []
        for row, document in enumerate(some):
            documents = Documents(limits=LIMITS)
            documents.read("subscription", document, row)
            expected += [(row, f"f: {problem}") for problem in documents.problems]
        assert found == expected, seed
