"""Trees by example: of many texts that differ only in their literals, one is parsed.

Whatever is not sure to come out exactly as from the full parser is left to it, above all errors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from shortlist.language.conditions import has_sound_numbers, read_condition
from shortlist.language.errors import LanguageError
from shortlist.language.moulds import Make, Mould, maker, mould
from shortlist.language.permissive import any_vocabulary
from shortlist.language.scores import read_score
from shortlist.language.shapes import PLACE_PATH, outline, shape
from shortlist.language.tree import And, Exists, Is, NamedTerm, Or, Predicate, Score, Where
from shortlist.model.paths import Path
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary

KEPT = 4_096
"""Templates of each kind that are remembered."""

LONGEST = 2_000
"""Characters of a text beyond which hardly another one is like it."""

SAFE = Limits()


def known_where(text: str, vocabulary: Vocabulary, limits: Limits) -> Where | None:
    """As `read_condition`; None if the text is wrong, or unlike what templates can be made of.

    >>> known_where("rent < 900 or rooms in (2, 3)", Vocabulary(), Limits()).operands[0]
    Comparison(path=('rent',), operator='<', value=900.0, negated=False)
    >>> known_where("rent < 1e999", Vocabulary(), Limits())
    """
    if len(text) > min(LONGEST, limits.expression_length):
        return None
    example, literals = shape(text)
    condition = _condition(example, limits)
    try:
        return None if condition is None else condition.cast(literals, vocabulary)
    except LanguageError:
        return None


def known_score(text: str, limits: Limits) -> Score | None:
    """As `read_score`; None if the text is wrong, or unlike what templates can be made of.

    >>> known_score("rating / 10", Limits()).right
    Number(value=10.0)
    """
    if len(text) > min(LONGEST, limits.expression_length):
        return None
    example, literals = shape(text)
    score = _score(example, limits)
    try:
        return None if score is None else score.cast(literals)
    except LanguageError:
        return None


@dataclass(frozen=True, slots=True)
class _Predicate:
    """What a predicate's literals mean may depend on whether its attribute is a time."""

    path: Path
    term: str | None
    plain: Mould | None
    timed: Mould | None
    literals: int

    def cast(self, literals: Sequence[str], vocabulary: Vocabulary) -> Predicate | None:
        is_time = self.timed is not self.plain and vocabulary.is_time(self.path)
        fitting = self.timed if is_time else self.plain
        if fitting is None:
            return None
        if self.term is not None and self.term not in vocabulary.of(self.path).terms:
            return None
        made: Predicate = fitting.cast(literals)
        return None if isinstance(made, Is) and not has_sound_numbers(made) else made


@dataclass(frozen=True, slots=True)
class _Condition:
    predicates: tuple[_Predicate, ...]
    make: Make

    def cast(self, literals: Sequence[str], vocabulary: Vocabulary) -> Where | None:
        made, start = list[Predicate](), 0
        for predicate in self.predicates:
            end = start + predicate.literals
            cast = predicate.cast(literals[start:end], vocabulary)
            if cast is None:
                return None
            made.append(cast)
            start = end
        where: Where = self.make(made)
        return where


@lru_cache(KEPT)
def _score(example: str, limits: Limits) -> Mould | None:
    return mould(example, lambda text: read_score(text, limits))


@lru_cache(KEPT)
def _condition(example: str, limits: Limits) -> _Condition | None:
    skeleton, predicates = outline(example)
    frame = _frame(skeleton, limits)
    if frame is None or len(frame.negated) != len(predicates):
        return None
    known = map(_predicate, predicates, frame.negated)
    found = tuple([predicate for predicate in known if predicate is not None])
    return _Condition(found, frame.make) if len(found) == len(predicates) else None


@dataclass(frozen=True, slots=True)
class _Frame:
    """A condition without its predicates, some of which it negates."""

    negated: tuple[bool, ...]
    make: Make


@lru_cache(KEPT)
def _frame(skeleton: str, limits: Limits) -> _Frame | None:
    try:
        tree = read_condition(skeleton, Vocabulary(), limits)
    except LanguageError:
        return None
    places: list[Predicate] = []

    def gap(part: Any) -> int | None:
        if isinstance(part, And | Or | tuple):
            return None
        places.append(part)
        return len(places) - 1

    make = maker(tree, gap)
    are_places = all(isinstance(place, Exists) and place.path == PLACE_PATH for place in places)
    return _Frame(tuple([place.negated for place in places]), make) if are_places else None


@lru_cache(KEPT)
def _predicate(example: str, negated: bool) -> _Predicate | None:
    text = f"not {example}" if negated else example
    plain, timed = (
        mould(text, partial(read_condition, vocabulary=any_vocabulary(declared), limits=SAFE))
        for declared in (None, "time")
    )
    either = plain or timed
    if either is None or isinstance(either.tree, And | Or):
        return None
    if plain is not None and timed is not None and plain.tree == timed.tree:
        timed = plain
    term = either.tree.term if isinstance(either.tree, Is) else None
    name = term.name if isinstance(term, NamedTerm) else None
    return _Predicate(either.tree.path, name, plain, timed, len(either.converters))
