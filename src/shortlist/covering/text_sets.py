"""Predicates on strings as small automata: is there a string that satisfies all of several?

Only the characters of the literals, and where other characters lie between them, can make a
difference. So one character stands for each gap, and a breadth-first search of the automata's
product decides.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any, Protocol

from shortlist.language.tree import Between, Comparison, In, TextMatch

TextPredicate = Comparison | In | Between | TextMatch

State = Any
"""Of an automaton; each kind has its own, and all can be put into a set."""

STEPS = 500_000
"""How far a search goes before it says: perhaps."""

FIRST_SURROGATE, AFTER_SURROGATES, LAST_CODE_POINT = 0xD800, 0xE000, 0x10FFFF


class TextSet(Protocol):
    """A set of strings, as a deterministic automaton whose states are made as they are met."""

    @property
    def literals(self) -> Iterable[str]: ...

    @property
    def start(self) -> State: ...

    def step(self, state: State, character: str) -> State: ...

    def accepts(self, state: State) -> bool: ...


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
    return one.inner if isinstance(one, Complement) else Complement(one)


def _positive(predicate: TextPredicate) -> TextSet:
    if isinstance(predicate, TextMatch):
        match predicate.operator:
            case "starts with":
                return Prefixed(predicate.text)
            case "contains":
                return Found(predicate.text, at_the_end=False)
            case "ends with":
                return Found(predicate.text, at_the_end=True)
    if isinstance(predicate, In):
        return Words(value for value in predicate.values if isinstance(value, str))
    if isinstance(predicate, Between):
        return Ordered(str(predicate.low), str(predicate.high))
    value = str(predicate.value)
    match predicate.operator:
        case "=":
            return Words([value])
        case "!=":
            return Complement(Words([value]))
        case ">=":
            return Ordered(value, None)
        case "<=":
            return Ordered(None, value)
        case "<":
            return Complement(Ordered(value, None))
        case ">":
            return Complement(Ordered(None, value))


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
        if isinstance(one, Words):
            return any(all(is_member(other, word) for other in sets) for word in one.words)
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
                reached = tuple(map(_step, sets, states, repeat(character)))
                if reached not in met:
                    met.add(reached)
                    following.append(reached)
        front = following
    return False


def _step(one: TextSet, state: State, character: str) -> State:
    return one.step(state, character)


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
    return list(_with_gaps(sorted(codes)))


def _with_gaps(codes: list[int]) -> Iterator[str]:
    free = 0
    for code in [*codes, LAST_CODE_POINT + 1]:
        if FIRST_SURROGATE <= free < AFTER_SURROGATES:
            free = AFTER_SURROGATES
        if free < code:
            yield chr(free)
        if code <= LAST_CODE_POINT:
            yield chr(code)
        free = code + 1


class Complement:
    """What another set leaves out."""

    def __init__(self, inner: TextSet) -> None:
        self.inner = inner
        self.literals = inner.literals
        self.start = inner.start
        self.step = inner.step

    def accepts(self, state: State) -> bool:
        return not self.inner.accepts(state)


class Words:
    """Finitely many strings. The state is a node of their tree of beginnings, or None."""

    start = 0

    def __init__(self, words: Iterable[str]) -> None:
        self.words = self.literals = frozenset(words)
        self._following: dict[tuple[State, str], int] = {}
        self._ends = set()
        for word in self.words:
            node = self.start
            for character in word:
                node = self._following.setdefault((node, character), len(self._following) + 1)
            self._ends.add(node)

    def step(self, state: State, character: str) -> int | None:
        return self._following.get((state, character))

    def accepts(self, state: State) -> bool:
        return state in self._ends


class Ordered:
    """The strings from one to another by code point, both included; None is no limit.

    The state says, for each limit, how far what was read agrees with it, or on which side it lies.
    """

    def __init__(self, low: str | None, high: str | None) -> None:
        self._low, self._high = low, high
        self.literals = tuple(limit for limit in (low, high) if limit is not None)
        self.start = (0, 0)

    def step(self, state: State, character: str) -> State:
        low, high = state
        return _compared(low, self._low, character), _compared(high, self._high, character)

    def accepts(self, state: State) -> bool:
        low, high = state
        return (self._low is None or low in (ABOVE, len(self._low))) and (
            self._high is None or high != ABOVE
        )


BELOW, ABOVE = "below", "above"


def _compared(state: int | str, limit: str | None, character: str) -> int | str:
    if limit is None or isinstance(state, str):
        return state
    if state == len(limit) or character > limit[state]:
        return ABOVE
    return state + 1 if character == limit[state] else BELOW


class Prefixed:
    """The strings that start with a text. The state is how much of it was read, or None."""

    start = 0

    def __init__(self, text: str) -> None:
        self._text = text
        self.literals = (text,)

    def step(self, state: State, character: str) -> State:
        if state is None or state == len(self._text):
            return state
        return state + 1 if character == self._text[state] else None

    def accepts(self, state: State) -> bool:
        return bool(state == len(self._text))


class Found:
    """The strings that hold a text anywhere, or at their end (Knuth, Morris and Pratt).

    The state is the length of the longest beginning of the text that what was read ends with.
    """

    start = 0

    def __init__(self, text: str, at_the_end: bool) -> None:
        self._text = text
        self._at_the_end = at_the_end
        self.literals = (text,)
        self._shorter = [0] * (len(text) + 1)
        for length in range(2, len(text) + 1):
            self._shorter[length] = self._longer(self._shorter[length - 1], text[length - 1])

    def _longer(self, length: int, character: str) -> int:
        text = self._text
        while length and (length == len(text) or text[length] != character):
            length = self._shorter[length]
        return length + 1 if text[length : length + 1] == character else 0

    def step(self, state: State, character: str) -> State:
        if state == len(self._text) and not self._at_the_end:
            return state
        return self._longer(state, character)

    def accepts(self, state: State) -> bool:
        return bool(state == len(self._text))
