"""Values of another type are counted for each predicate of each live subscription."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from shortlist.intake.files import registry_from_documents
from shortlist.language.conditions import ConditionReader
from shortlist.language.tree import Exists, Is, NamedTerm, predicates
from shortlist.matching import census
from shortlist.matching.blocks import Block
from shortlist.matching.census import TypeCensus
from shortlist.matching.predicates import literal
from shortlist.matching.values import Many, Values
from shortlist.model.publication import Publication
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from tests.strategies import VOCABULARY, cuts, data, seeded, where

DECLARED = registry_from_documents({"vocabulary": VOCABULARY}).vocabulary


def publication(content: dict[str, Any] | None) -> Publication:
    return Publication(id="p", source="a", time=0, position=0, data=content or {})


def block(seen: Sequence[Publication], vocabulary: Vocabulary = DECLARED) -> Block:
    return Block.of_readers([Values(vocabulary).of(each) for each in seen])


def asked(predicate: Any) -> type | None:
    """The type that a predicate is about; the only strings with terms are moods."""
    if isinstance(predicate, Exists):
        return None
    if isinstance(predicate, Is):
        return str if predicate.term == NamedTerm("bright") else float
    return type(literal(predicate))


def found(value: Any) -> set[type]:
    values = value.elements if isinstance(value, Many) else [value]
    forms = {"Trapezoid": float, "Graded": str}
    return {forms.get(type(each).__name__, type(each)) for each in values}


def counted(live: list[Subscription], seen: list[Publication]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for made in live:
        for predicate in predicates(ConditionReader(made.where, DECLARED, Limits()).read()):
            for read in map(Values(DECLARED).of, seen):
                value, kind = read(predicate.path), asked(predicate)
                if kind is not None and value is not None and kind not in found(value):
                    counts[".".join(predicate.path)] += 1
    return counts


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("kept", [1, census.KEPT])
def test_counts_after_changes(monkeypatch: pytest.MonkeyPatch, seed: int, kept: int) -> None:
    monkeypatch.setattr(census, "KEPT", kept)
    pick, types = seeded(seed), TypeCensus(DECLARED)
    made = [Subscription(id=str(number), where=where(pick)[0]) for number in range(30)]
    for subscription in made:
        types.add(subscription)
    for subscription in made[:15]:
        types.remove(subscription)
    for old, new in zip(made[15:20], made[:5], strict=True):
        types.replace(old, new)
    types.add(Subscription(id="all"))
    seen = [publication(data(pick)) for _ in range(20)]
    for some in cuts(pick, seen):
        types.observe(block(some))
    assert types.mismatches == counted([*made[:5], *made[20:]], seen)
    assert types.mismatches


def test_a_string_is_a_time_where_the_vocabulary_says_so() -> None:
    given = publication({"released": "2026-02-01", "title": "2026-02-01"})
    for declared, expected in ((DECLARED, {"released": 1}), (Vocabulary(), {})):
        types = TypeCensus(declared)
        types.add(Subscription(id="s", where="released < '2026-01-01' and title < '2026-01-01'"))
        types.observe(block([given], Vocabulary()))
        assert types.mismatches == expected
