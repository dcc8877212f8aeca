"""Every form of a predicate is known wherever forms are told apart."""

from collections.abc import Callable
from typing import get_args

import pytest

from shortlist.language.parser import parse_where
from shortlist.language.printer import print_where
from shortlist.language.templates import Template, Templates, values_of
from shortlist.language.tree import (
    Between,
    Comparison,
    CrispPredicate,
    Exists,
    In,
    Is,
    Predicate,
    TextMatch,
)
from shortlist.matching.blocks import Block
from shortlist.matching.index.index import Index
from shortlist.matching.scan import Scan
from shortlist.matching.values import Values
from shortlist.model.publication import Publication
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from tests.matching.index.drawn import by_publication

MANY = 300
"""More than are compiled one by one."""

TEXTS: dict[type, Callable[[int], str]] = {
    Comparison: lambda n: f"rent > {n}",
    In: lambda n: f"rent in ({n}, {n + 7}, -{n})",
    Between: lambda n: f"rent between -{n} and {n}",
    TextMatch: lambda n: f"city starts with '{n}'",
    Exists: lambda n: f"{'rent' if n % 2 else 'city'} exists",
    Is: lambda n: f"rent is around({n}, 5)",
}
"""Of each form a condition that differs from others in its literals."""

every_form = pytest.mark.parametrize("form", [*get_args(CrispPredicate), Is])


def publications() -> list[Publication]:
    data = [{"rent": n * 11 - 20, "city": str(n * 11)} for n in range(30)]
    return [
        Publication(id=str(n), source="s", time=0, position=n, data=each)
        for n, each in enumerate([*data, {}, {"rent": "free"}, {"city": 5}])
    ]


def test_the_forms_are_all_there_are():
    assert {*get_args(CrispPredicate), Is} == {*get_args(Predicate)} == {*TEXTS}


@every_form
def test_a_text_of_a_known_shape_is_read_as_the_parser_reads_it(form):
    templates = Templates(Vocabulary(), Limits())
    for n in range(10):
        text = TEXTS[form](n)
        read = templates.read(text)
        where = read[0].filled(read[1]) if isinstance(read, tuple) else read
        assert where == parse_where(text)
        assert isinstance(where, form)
        assert parse_where(print_where(where)) == where


@every_form
def test_many_that_are_compiled_together_match_what_the_plain_matcher_says(form):
    some = [Subscription(id=f"{n:03}", where=TEXTS[form](n)) for n in range(MANY)]
    scan = Scan(Vocabulary(), Limits())
    for each in some:
        scan.add(each)
    reads = [*map(Values(Vocabulary()).of, publications())]
    expected = [scan.match(read) for read in reads]
    assert len({len(found) for found in expected}) > 1
    index = Index(Vocabulary(), Limits(), few=0)
    for each in some:
        index.add(each)
    found = index.match_block(Block.of_readers(reads))
    assert by_publication(index, found, len(reads)) == expected


class Unknown:
    """A form that nobody was told of."""

    path = ("rent",)
    negated = False


def test_a_form_that_templates_do_not_know_is_refused():
    with pytest.raises(AssertionError, match="Unknown"):
        values_of(Unknown())
    with pytest.raises(AssertionError, match="Unknown"):
        Template(Unknown()).filled([])
