"""Vocabularies in which every attribute has every term, for where the true terms do not matter."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from shortlist.model.vocabulary import Attribute, AttributeType, Term, Vocabulary


@dataclass(frozen=True)
class _Otherwise(Mapping[Any, Any]):
    """Has one and the same value under every key but those that it knows."""

    value: Any
    known: Mapping[Any, Any] = field(default_factory=dict)

    def __getitem__(self, key: Any) -> Any:
        return self.known.get(key, self.value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def any_attribute(declared: AttributeType | None = None) -> Attribute:
    """
    >>> "cheap" in any_attribute().terms
    True
    """
    return Attribute(type=declared, terms=_Otherwise(Term()))


def with_any_terms(vocabulary: Vocabulary) -> Vocabulary:
    """The same types, and every term.

    >>> known = with_any_terms(Vocabulary({("released",): Attribute(type="time")}))
    >>> known.is_time(("released",)), "cheap" in known.of(("rent",)).terms
    (True, True)
    """
    every = any_attribute()
    declared = {
        path: replace(attribute, terms=every.terms)
        for path, attribute in vocabulary.attributes.items()
    }
    return Vocabulary(_Otherwise(every, declared))
