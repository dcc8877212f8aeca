"""A vocabulary in which every attribute has every term, for where the true one does not matter."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from shortlist.model.vocabulary import Attribute, AttributeType, Term, Vocabulary


@dataclass(frozen=True)
class _Same(Mapping[Any, Any]):
    """Has one and the same value under every key."""

    value: Any

    def __getitem__(self, key: Any) -> Any:
        return self.value

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0


def any_attribute(declared: AttributeType | None = None) -> Attribute:
    """
    >>> "cheap" in any_attribute().terms
    True
    """
    return Attribute(type=declared, terms=_Same(Term()))


def any_vocabulary(declared: AttributeType | None = None) -> Vocabulary:
    """
    >>> any_vocabulary("time").is_time(("released",))
    True
    """
    return Vocabulary(_Same(any_attribute(declared)))
