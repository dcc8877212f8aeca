"""Predicates on strings as small automata: is there a string that satisfies all of several?

Only the characters of the literals, and where other characters lie between them, can make a
difference. So one character stands for each gap, and a breadth-first search of the automata's
product decides.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shortlist.language.tree import Between, Comparison, In, TextMatch

TextPredicate = Comparison | In | Between | TextMatch

State = Any
"""Of an automaton; each kind has its own, and all can be put into a set."""

STEPS = 500_000
"""How far a search goes before it says: perhaps."""

FIRST_SURROGATE, AFTER_SURROGATES, LAST_CODE_POINT = 0xD800, 0xE000, 0x10FFFF


@dataclass(frozen=True, slots=True)
class TextSet:
    """A set of strings, as a deterministic automaton whose states are made as they are met."""

    start: State
    step: Callable[[State, str], State]
    is_in: Callable[[State], bool]
    """Whether what was read is in the set, or outside of it if that is `inverted`."""
    literals: Iterable[str]
    is_words: bool = False
    """Whether it has its literals only."""
    inverted: bool = False

    def accepts(self, state: State) -> bool:
        return self.is_in(state) != self.inverted


def text_set(predicate: TextPredicate) -> TextSet:
    """The strings that satisfy a predicate on strings, its negation included.

    >>> is_member(text_set(TextMatch(("title",), "contains", "aba")), "ababa")
    True
    >>> is_member(text_set(Between(("title",), "b", "d", negated=True)), "c")
    False
    """
    positive = _positive(predicate)
    return outside(positive) if predicate.negated else positive


def outside(one: TextSet) -> TextSet:
    """All strings but those of a set."""
    return replace(one, inverted=not one.inverted)


def _positive(predicate: TextPredicate) -> TextSet:
    match predicate:
        case TextMatch(_, "starts with", text):
            return _prefixed(text)
        case TextMatch(_, operator, text):
            return _found(text, at_the_end=operator == "ends with")
        case In(_, values):
            return _words(map(str, values))
        case Between(_, low, high):
            return _ordered(str(low), str(high))
        case Comparison(_, "=" | "!=", value):
            found = _words([str(value)])
        case Comparison(_, ">=" | "<", value):
            found = _ordered(str(value), None)
        case Comparison(_, _, value):
            found = _ordered(None, str(value))
    return outside(found) if predicate.operator in ("!=", "<", ">") else found


def may_share_a_string(sets: Sequence[TextSet]) -> bool:
    """Whether some string lies in all the sets; also True where the search was given up.

    >>> starts, ends = TextMatch(("t",), "starts with", "ab"), TextMatch(("t",), "ends with", "bc")
    >>> short = Comparison(("t",), "<=", "abbc")
    >>> may_share_a_string([text_set(starts), text_set(ends), text_set(short)])
    True
    >>> may_share_a_string([text_set(starts), text_set(ends), outside(text_set(starts))])
    False
    """
    for one in sets:
        if one.is_words and not one.inverted:
            return any(all(is_member(other, word) for other in sets) for word in one.literals)
    alphabet = representatives(literal for one in sets for literal in one.literals)
    start = tuple(one.start for one in sets)
    met, front = {start}, [start]
    left = STEPS
    while front:
        following = []
        for states in front:
            if all(one.accepts(state) for one, state in zip(sets, states, strict=True)):
                return True
            left -= len(alphabet) * len(sets)
            if left < 0:
                return True
            for character in alphabet:
                both = zip(sets, states, strict=True)
                reached = tuple([one.step(state, character) for one, state in both])
                if reached not in met:
                    met.add(reached)
                    following.append(reached)
        front = following
    return False


def is_member(one: TextSet, text: str) -> bool:
    """Whether a string lies in a set."""
    state = one.start
    for character in text:
        state = one.step(state, character)
    return one.accepts(state)


def representatives(literals: Iterable[str]) -> list[str]:
    """The characters of the literals, and one for each gap before, between and after them.

    >>> representatives(["bd", "c"])
    ['\\x00', 'b', 'c', 'd', 'e']
    """
    codes = {ord(character) for literal in literals for character in literal}
    found, free = [], 0
    for code in [*sorted(codes), LAST_CODE_POINT + 1]:
        if FIRST_SURROGATE <= free < AFTER_SURROGATES:
            free = AFTER_SURROGATES
        found += [chr(free)] if free < code else []
        found += [chr(code)] if code <= LAST_CODE_POINT else []
        free = code + 1
    return found


def _words(some: Iterable[str]) -> TextSet:
    """Finitely many strings. The state is a node of their tree of beginnings, or None."""
    words = frozenset(some)
    following: dict[tuple[State, str], int] = {}
    ends = set()
    for word in words:
        node = 0
        for character in word:
            node = following.setdefault((node, character), len(following) + 1)
        ends.add(node)

    def step(state: State, character: str) -> int | None:
        return following.get((state, character))

    return TextSet(0, step, ends.__contains__, words, is_words=True)


BELOW, ABOVE = "below", "above"


def _ordered(low: str | None, high: str | None) -> TextSet:
    """The strings from one to another by code point, both included; None is no limit.

    The state says, for each limit, how far what was read agrees with it, or on which side it lies.
    """

    def step(state: State, character: str) -> State:
        return _compared(state[0], low, character), _compared(state[1], high, character)

    def is_in(state: State) -> bool:
        return (low is None or state[0] in (ABOVE, len(low))) and state[1] != ABOVE

    return TextSet((0, 0), step, is_in, [limit for limit in (low, high) if limit is not None])


def _compared(state: int | str, limit: str | None, character: str) -> int | str:
    if limit is None or isinstance(state, str):
        return state
    if state == len(limit) or character > limit[state]:
        return ABOVE
    return state + 1 if character == limit[state] else BELOW


def _prefixed(text: str) -> TextSet:
    """The strings that start with a text. The state is how much of it was read, or None."""

    def step(state: State, character: str) -> State:
        if state is None or state == len(text):
            return state
        return state + 1 if character == text[state] else None

    return TextSet(0, step, lambda state: bool(state == len(text)), [text])


def _found(text: str, at_the_end: bool) -> TextSet:
    """The strings that hold a text anywhere, or at their end (Knuth, Morris and Pratt).

    The state is the length of the longest beginning of the text that what was read ends with.
    """
    shorter = [0] * (len(text) + 1)

    def longer(length: int, character: str) -> int:
        while length and (length == len(text) or text[length] != character):
            length = shorter[length]
        return length + 1 if text[length : length + 1] == character else 0

    for length in range(2, len(text) + 1):
        shorter[length] = longer(shorter[length - 1], text[length - 1])

    def step(state: State, character: str) -> State:
        return state if state == len(text) and not at_the_end else longer(state, character)

    return TextSet(0, step, lambda state: bool(state == len(text)), [text])
