"""What it means that terms are defined: the declaration after it, and whose meaning changes."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple, TypeVar

from shortlist.fuzzy.sets import term_set
from shortlist.language.parser import parse_where
from shortlist.language.permissive import with_any_terms
from shortlist.language.reader import parted
from shortlist.language.tree import Is, NamedTerm, predicates
from shortlist.model.advertisement import Advertisement
from shortlist.model.command import Define
from shortlist.model.paths import Path
from shortlist.model.settings import UNLIMITED
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Attribute, Term, Vocabulary

ANY_TERM = with_any_terms(Vocabulary())
MOST_NAMED = 3

Asking = TypeVar("Asking", Subscription, Advertisement)


def defined(attribute: Attribute, command: Define) -> Attribute:
    """An attribute's declaration after its terms are defined.

    >>> term, place = Term(values={"old": 1.0}), {"time": 0, "position": 0}
    >>> added = Define(attribute=("age",), terms={"antique": term}, **place)
    >>> [*defined(Attribute(type="string"), added).terms]
    ['antique']
    """
    terms = {**attribute.terms, **command.terms}
    kept = {name: term for name, term in terms.items() if term is not None}
    return replace(attribute, terms=kept)


def changed_terms(known: Mapping[str, Term], given: Mapping[str, Term | None]) -> set[str]:
    """Those of some terms that mean something else afterwards, or are no more; new ones are none
    of them.

    >>> cheap, linear = {"trapezoid": (None, None, 900, 1200)}, {"shape": "linear"}
    >>> changed_terms({"cheap": Term(**cheap)}, {"cheap": Term(**cheap, **linear), "dear": Term()})
    set()
    """
    return {
        name
        for name, term in given.items()
        if name in known and (term is None or term_set(term) != term_set(known[name]))
    }


class Users(NamedTuple):
    """Who asks for terms, in order of arrival."""

    subscriptions: list[Subscription]
    advertisements: list[Advertisement]

    @property
    def shortlists(self) -> set[str]:
        """Of these subscriptions."""
        return {each.shortlist_id for each in self.subscriptions}

    def __str__(self) -> str:
        named = [f"subscription {each.id!r}" for each in self.subscriptions]
        named += [f"advertisement {each.id!r}" for each in self.advertisements]
        more = len(named) - MOST_NAMED
        return ", ".join(named[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


class TermUse:
    """Finds out who uses some terms of an attribute.

    >>> uses = TermUse(("rent",), {"cheap"})
    >>> some = [Subscription(id="s", where="rent is very cheap"), Subscription(id="t")]
    >>> [each.id for each in uses.among(some)]
    ['s']
    """

    def __init__(self, path: Path, names: Iterable[str]) -> None:
        self._asked = {(path, name) for name in names}
        self._spelled = {name.replace('"', '""') for name in names}
        self._by_shape: dict[str, bool] = {}

    def among(self, some: Iterable[Asking]) -> list[Asking]:
        if not self._asked:
            return []
        return [each for each in some if each.where is not None and self._is_used_in(each.where)]

    def _is_used_in(self, where: str) -> bool:
        """Conditions that differ only in their literals use the same terms."""
        if not any(name in where for name in self._spelled):
            return False
        shape, _ = parted(where)
        if shape not in self._by_shape:
            self._by_shape[shape] = not self._asked.isdisjoint(_terms_of(where))
        return self._by_shape[shape]


def _terms_of(where: str) -> Iterator[tuple[Path, str]]:
    for predicate in predicates(parse_where(where, ANY_TERM, UNLIMITED)):
        if isinstance(predicate, Is) and isinstance(predicate.term, NamedTerm):
            yield predicate.path, predicate.term.name
