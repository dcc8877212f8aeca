"""Texts with too many combining marks in a row have no tokens, and are counted."""

import json
import sys
import unicodedata

import pytest

from shortlist.engine.engine import Engine
from shortlist.engine.replay import line_reader
from shortlist.intake.files import registry_from_documents
from shortlist.matching.marks import BECOME_MARKS, MOST_MARKS, has_too_many_marks
from shortlist.matching.scan import Scan
from shortlist.model.settings import Settings
from shortlist.scoring import relevance
from shortlist.scoring.relevance import tokens
from tests.strategies import seeded

ACUTE, CEDILLA, SPACING, ENCLOSING, BEYOND = "\u0301", "\u0327", "\u0903", "\u20dd", "\U0001d165"
LONG = "a" + (ACUTE + CEDILLA) * 16
SETTINGS = Settings(time="arrival")


def test_every_mark_of_unicode_counts():
    for code in range(sys.maxunicode + 1):
        letter = chr(code)
        is_mark = unicodedata.category(letter)[0] == "M" or letter in BECOME_MARKS
        # the longest text that is right, which this letter makes too long if it is a mark
        if is_mark or code % 512 == 0:
            assert has_too_many_marks(MOST_MARKS * ACUTE + letter) == is_mark, hex(code)


def test_nothing_else_becomes_marks_alone():
    for code in [*range(0xD800), *range(0xE000, 0x30000), *range(0xE0000, 0xE1000)]:
        letter = chr(code)
        if unicodedata.category(letter)[0] != "M" and letter not in BECOME_MARKS:
            changed = unicodedata.normalize("NFKD", letter)
            assert not unicodedata.combining(changed[0]), hex(code)


@pytest.mark.parametrize("mark", [ACUTE, SPACING, ENCLOSING, BEYOND, "\uff9e"])
def test_thirty_marks_in_a_row_are_read_and_more_are_not(mark):
    assert len(tokens(f"x a{mark * MOST_MARKS} y")) == 3
    assert tokens(f"x a{mark * (MOST_MARKS + 1)} y") == []
    apart = f"a{mark * MOST_MARKS}b{mark * MOST_MARKS}"
    assert len(tokens(apart)) == 1


def test_what_would_take_long_is_never_normalised(monkeypatch):
    given = []

    def normalize(form, text):
        given.append(text)
        return unicodedata.normalize(form, text)

    monkeypatch.setattr(
        relevance,
        "unicodedata",
        type("Noting", (), {"normalize": normalize, "category": unicodedata.category}),
    )
    assert tokens((ACUTE + CEDILLA) * 120_000) == []
    assert tokens((ACUTE * 29 + "\uff9e") * 4_000) == []
    assert given == []
    assert tokens("é") == ["é"]
    assert given == ["é"]


TITLES = ["été a", LONG, "a", f"b {LONG}", "", None, 5, ["a"], f"a{ACUTE}"]
REGISTRY = {
    "subscriptions": [
        {"id": "s", "score": "relevance(title, 'a été')"},
        {
            "id": "t",
            "where": "rent > 1",
            "score": "1 + relevance(title, 'a') * relevance(title, 'b')",
        },
        {"id": "u", "where": "title != 'x'", "score": "rent"},
        {"id": "v", "score": f"1 + relevance(title, 'a{ACUTE * 31}')"},
    ]
}


def run(matcher, titles):
    """What the engine delivers, plainly or in bulk, and the attributes that it counts."""
    registry = registry_from_documents(REGISTRY)
    engine = Engine(registry, SETTINGS, **matcher)
    found = []
    for at, title in enumerate(titles, start=1):
        data = {"rent": 5, "title": title}
        line = json.dumps({"id": f"{at}", "source": "s", "data": data}).encode()
        read = line_reader(engine, registry, SETTINGS).lines([at], [line], [at * 10**6])
        found += [
            (each.publication.id, each.shortlist, each.score)
            for each in engine.run(read).deliveries
        ]
    found += [
        (each.publication.id, each.shortlist, each.score)
        for each in engine.process([], last=True).deliveries
    ]
    return sorted(found), engine.counts["other_type"]


@pytest.mark.parametrize("seed", range(4))
def test_plainly_and_in_bulk_the_same_is_found_and_counted(seed):
    pick = seeded(seed)
    titles = [pick(TITLES) for _ in range(12)]
    bulk, plain = run({}, titles), run({"matcher": Scan}, titles)
    assert bulk == plain
    # four calls of relevance look at such a text, and one predicate at what is no text
    over = sum(title in (LONG, f"b {LONG}") for title in titles)
    others = sum(title in (5,) for title in titles)
    assert bulk[1].get("title", 0) == 4 * over + others


def test_a_text_without_tokens_is_worth_nothing():
    found, counts = run({}, [LONG, "a"])
    assert ("1", "s", 0.0) in found
    assert ("2", "v", 1.0) in found  # nor has the query of this one any
    assert counts == {"title": 4}
