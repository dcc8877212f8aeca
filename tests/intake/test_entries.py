"""Subscriptions in bulk: what many share is read once."""

import pytest

from shortlist.engine.pieces import PieceCompiler
from shortlist.intake.documents import Documents
from shortlist.intake.entries import EntryReader
from shortlist.intake.given import Given
from shortlist.language import templates
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary

FEW = 5
"""Two or three of a shape: its outline is parsed beside them."""


@pytest.fixture
def parsed(monkeypatch):
    """Every text that is parsed."""
    texts = []

    def parse_where(text, *others):
        texts.append(text)
        return original(text, *others)

    original = templates.parse_where
    monkeypatch.setattr(templates, "parse_where", parse_where)
    return texts


def read(reader, wheres):
    documents = [{"id": f"s{number}", "where": where} for number, where in enumerate(wheres)]
    return reader.read(Given.of_documents(documents), lambda row: ("", None))


def test_a_shape_that_many_share_is_known_in_the_first_piece(parsed):
    found = read(EntryReader(Documents()), [f"rent < {rent}" for rent in range(100)])
    assert found.conditions.singles == []
    assert len(parsed) <= FEW


def test_later_pieces_know_it_already(parsed):
    reader = EntryReader(Documents())
    for first in (0, 100):
        read(reader, [f"rent < {rent}" for rent in range(first, first + 100)])
    assert len(parsed) <= FEW


def test_conditions_that_are_like_no_other_are_parsed_once(parsed):
    wheres = ["rent < 900", "city = 'Oslo'", "rent < 900 or size > 40"]
    found = read(EntryReader(Documents()), wheres)
    PieceCompiler(Vocabulary(), Limits()).piece(found)
    assert found.conditions.singles == [*map(templates.parse_where, wheres)]
    assert parsed == wheres * 2
