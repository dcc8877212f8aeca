"""Reads conditions. Negation is pushed down to the predicates.

    condition  = operand (("and" | "or") operand)*        "and" binds tighter
    operand    = "not" operand | "(" condition ")" | predicate
    predicate  = PATH ("=" | "!=" | "<>" | "<" | "<=" | ">" | ">=") literal
               | PATH ["not"] "in" "(" literal ("," literal)* ")"
               | PATH ["not"] "between" literal "and" literal
               | PATH ["not"] ("contains" | "starts with" | "ends with") STRING
               | PATH "exists"
               | PATH "is" ["not"] ("very" | "somewhat")* term ["(" threshold ("," threshold)* ")"]
    literal    = number | STRING | "true" | "false" | "time" STRING
    number     = ["+" | "-"] NUMBER
    term       = NAME | ("trapezoid" | "around") "(" corner ("," corner)* ")"
    corner     = number | "null"
    threshold  = ("possibility" | "necessity") ">=" number

A word is a keyword only where a keyword can stand; anywhere else it is a name.
"""

import math
import re
from collections.abc import Sequence
from itertools import pairwise

from shortlist.language import tree
from shortlist.language.errors import LanguageError
from shortlist.language.reader import (
    MORE,
    NAME,
    NO_LEVELS,
    OPEN,
    PATH,
    SIGNED,
    STRING,
    Reader,
    Token,
    fault,
    listed,
    merged,
    number_of,
    path_of,
    shown,
    text_of,
    time_of,
    token,
    word,
)
from shortlist.model.paths import Path
from shortlist.model.settings import Limits
from shortlist.model.times import Instant
from shortlist.model.vocabulary import Vocabulary

NOT = rf"{word('not')}(?!\.)"
TEXT_OPERATOR = rf"(?:{word('contains')}|(?ai:starts|ends)\s+{word('with')})"

VALUE = (
    rf"(?:{SIGNED})|(?P<string>{STRING})|(?P<boolean>{word('true', 'false')})"
    rf"|(?P<time>{word('time')})\s*+(?P<moment>{STRING})|(?P<timeless>{word('time')})"
)
OPERAND = re.compile(
    rf"\s*+(?:(?P<inverted>{NOT})|(?P<open>\()|(?P<path>{PATH})\s*+"
    rf"(?:(?:(?P<compare><>|!=|<=|>=|=|<|>)|(?:(?P<range_inverted>{NOT})\s*+)?+"
    rf"(?:(?P<between>{word('between')})|(?P<member>{word('in')})\s*+(?P<list>\()))"
    rf"\s*+(?:{VALUE})?+"
    rf"|(?:(?P<text_inverted>{NOT})\s*+)?+(?:(?P<text>{TEXT_OPERATOR})|(?P<no_list>{word('in')}))"
    rf"|(?P<exists>{word('exists')})|(?P<fuzzy>{word('is')})|(?P<no_verb>{NOT}))?+)"
)
"""A predicate up to its first value, so that a comparison is one token."""

CONNECTIVE = token(both=word("and"), either=word("or"), close=r"\)", end=r"\Z")
UPPER_END = re.compile(rf"\s*+(?P<both>{word('and')})\s*+(?:{VALUE})?+")
NEXT_VALUE = re.compile(rf"\s*+(?:(?P<more>,)\s*+(?:{VALUE})?+|(?P<close>\)))")
CORNER = re.compile(rf"\s*+(?:(?:{SIGNED})|(?P<null>{word('null')}))")
TERM = token(hedge=word("very", "somewhat"), shape=word("trapezoid", "around"), name=NAME)
INVERTED, TEXT = token(inverted=NOT), token(string=STRING)
DEGREE, AT_LEAST = token(degree=word("possibility", "necessity")), token(at_least=">=")

A_VALUE = "a value (a number, a string in single quotes, true, false or time '…')"
INVERTIBLE_VERBS = ("'in'", "'between'", "'contains'", "'starts with'", "'ends with'")
VERBS = ("a comparison (=, !=, <, <=, > or >=)", "'not'", *INVERTIBLE_VERBS, "'exists'", "'is'")
KINDS: dict[type, str] = {
    float: "a number",
    str: "a string",
    bool: "a boolean",
    Instant: "a time",
}


class ConditionReader(Reader):
    """Reads one condition. Depth counts every `and`, `or`, `not` and pair of parentheses that a
    predicate stands in; a `not` directly before a predicate is free, as canonical text may need it.
    """

    def __init__(self, text: str, vocabulary: Vocabulary, limits: Limits) -> None:
        super().__init__(text, limits)
        self.vocabulary = vocabulary
        self.predicates = 0
        self.after: Token | None = None
        """What stands behind the last condition, if it may stand there."""

    def read(self) -> tree.Where:
        where = self._condition(negated=False, depth=0)
        if self.after is None or self.after.lastgroup != "end":
            raise self.unexpected("'and'", "'or'", "the end of the text")
        self.check_levels()
        return where

    def _condition(self, negated: bool, depth: int) -> tree.Where:
        """What follows it is `after`. `depth` counts parentheses and negations alone: `and` and
        `or` are not known yet."""
        either, both = (tree.And, tree.Or) if negated else (tree.Or, tree.And)
        alternatives: list[tree.Where] = []
        operands = [self._operand(negated, depth)]
        levels, outer = self.levels, NO_LEVELS
        while after := CONNECTIVE.match(self.text, self.at):
            kind = after.lastgroup
            if kind in ("close", "end"):
                break
            self.at, self.last = after.end(), after
            if kind == "either":
                alternatives.append(operands[0] if len(operands) == 1 else both(tuple(operands)))
                outer = merged(outer, levels if len(operands) == 1 else (levels[0], *levels))
                operands, levels = [], NO_LEVELS
            operands.append(self._operand(negated, depth))
            if len(self.levels) > len(levels):
                levels = merged(levels, self.levels)
        self.after = after
        if len(operands) > 1:
            operands, levels = [both(tuple(operands))], (levels[0], *levels)
        self.levels = levels
        if not alternatives:
            return operands[0]
        outer = merged(outer, levels)
        self.levels = (outer[0], *outer)
        return either((*alternatives, *operands))

    def _operand(self, negated: bool, depth: int) -> tree.Where:
        inversions = NO_LEVELS
        while True:
            found = OPERAND.match(self.text, self.at)
            if found is None:
                raise self.unexpected("a condition")
            self.at, self.last = found.end(), found
            kind = found.lastgroup
            if kind != "inverted":
                break
            inversions += (found.start("inverted"),)
            self.check_depth(depth + len(inversions) - 1, inversions[-1])
            negated = not negated
        if kind == "open":
            start, depth = found.start("open"), depth + len(inversions)
            self.check_depth(depth, start)
            where = self._condition(negated, depth + 1)
            if self.after is None or self.after.lastgroup != "close":
                raise self.unexpected("')'", "'and'", "'or'")
            self.at, self.last = self.after.end(), self.after
            self.levels = (*inversions, start, *self.levels)
            return where
        self.levels = inversions or (found.start("path"),)
        self.predicates += 1
        allowed = self.limits.predicates
        if self.predicates > allowed:
            raise fault(f"at most {allowed} predicates are allowed", found)
        return self._predicate(found, negated)

    def _predicate(self, found: Token, negated: bool) -> tree.Predicate:
        name, operator = found.group("path", "compare")
        path = path_of(name)
        if operator:
            value = self._value(found, path)
            if operator == "<>":
                operator = "!="
            elif isinstance(value, bool) and operator not in ("=", "!="):
                raise _boolean_fault(found)
            return tree.Comparison(path, operator, value, negated)  # type: ignore[arg-type]
        between, member, is_inverted = found.group("between", "member", "range_inverted")
        if between:
            low = self._value(found, path)
            last = self.take(UPPER_END, "'and'")
            high = self._value(last, path)
            _check_types((low, high), (found, last))
            return tree.Between(path, low, high, negated != bool(is_inverted))
        if member:
            return tree.In(path, self._values(found, path), negated != bool(is_inverted))
        match found.lastgroup:
            case "text":
                operator = " ".join(found["text"].lower().split())
                text = text_of(self.take(TEXT, "a string in single quotes")["string"])
                negated = negated != bool(found["text_inverted"])
                return tree.TextMatch(path, operator, text, negated)  # type: ignore[arg-type]
            case "exists":
                return tree.Exists(path, negated)
            case "fuzzy":
                return self._fuzzy(name, path, negated)
            case "no_list":
                raise self.unexpected("'('")
            case "no_verb":
                raise self.unexpected(*INVERTIBLE_VERBS)
        raise self.unexpected(*VERBS)

    def _value(self, found: Token, path: Path) -> tree.Scalar:
        """A literal; where the attribute is a time a plain string tells one, too."""
        match found.lastgroup:
            case "number":
                return number_of(found)
            case "string":
                is_time = self.vocabulary.is_time(path)
                return time_of(found, "string") if is_time else text_of(found["string"])
            case "boolean":
                return found["boolean"].lower() == "true"
            case "moment":
                return time_of(found, "moment")
            case "lonely":
                raise self.unexpected("a number")
            case "timeless":
                raise self.unexpected("a string in single quotes")
        raise self.unexpected(A_VALUE)

    def _values(self, found: Token, path: Path) -> tuple[tree.Scalar, ...]:
        values = [self._value(found, path)]
        places = [found]
        while (found := self.take(NEXT_VALUE, "','", "')'")).lastgroup != "close":
            values.append(self._value(found, path))
            places.append(found)
        _check_types(values, places)
        return tuple(values)

    def _fuzzy(self, name: str, path: Path, negated: bool) -> tree.Is:
        if self.accept(INVERTED, "'not'"):
            negated = not negated
        hedges: list[tree.Hedge] = []
        while (found := self.take(TERM, "'very'", "'somewhat'", "a term"))["hedge"]:
            hedges.append(found["hedge"].lower())  # type: ignore[arg-type]
        term = self._inline(found) if found["shape"] else self._named(name, path, found)
        thresholds = self._thresholds() if self.accept(OPEN, "'('") else {}
        return tree.Is(path, term, tuple(hedges), negated, **thresholds)

    def _named(self, attribute: str, path: Path, found: Token) -> tree.NamedTerm:
        (name,) = path_of(found["name"])
        terms = self.vocabulary.of(path).terms
        if name in terms:
            return tree.NamedTerm(name)
        hint = f"its terms are {listed(name, terms)}" if terms else "the vocabulary gives it none"
        if name.lower() == "null":
            hint = f"write not {shown(attribute)} exists to ask for its absence"
        raise fault(f"'{shown(name)}' is not a term of '{shown(attribute)}'; {hint}", found)

    def _inline(self, found: Token) -> tree.FuzzyTerm:
        self.take(OPEN, "'('")
        numbers: list[float | None] = []
        places: list[Token] = []
        while True:
            place = self.take(CORNER, "a number", "null")
            numbers.append(None if place["null"] else self.signed(place))
            places.append(place)
            if self.take(MORE, "','", "')'")["close"]:
                break
        kind = found["shape"].lower()
        wanted = 4 if kind == "trapezoid" else 2
        if len(numbers) != wanted:
            raise fault(f"{kind} takes {wanted} values, found {len(numbers)}", found)
        check = _trapezoid_fault if kind == "trapezoid" else _around_fault
        if found_fault := check(numbers):
            at, message = found_fault
            raise fault(message, places[at])
        if kind == "trapezoid":
            return tree.TrapezoidTerm(tuple(numbers))  # type: ignore[arg-type]
        return tree.AroundTerm(*numbers)  # type: ignore[arg-type]

    def _thresholds(self) -> dict[str, float]:
        limits: dict[str, float] = {}
        while True:
            found = self.take(DEGREE, "'possibility'", "'necessity'")
            self.take(AT_LEAST, "'>='")
            name, value = found["degree"].lower(), self.signed_number()
            if name in limits:
                raise fault(f"'{name}' has a threshold already", found)
            if not 0 <= value <= 1:
                raise fault("a threshold must lie between 0 and 1", self.last)
            limits[name] = value
            if self.take(MORE, "','", "')'")["close"]:
                return limits


def _check_types(values: Sequence[tree.Scalar], places: Sequence[Token]) -> None:
    """Values that stand together are of one type, and no booleans."""
    first = type(values[0])
    for value, place in zip(values, places, strict=True):
        if isinstance(value, bool):
            raise _boolean_fault(place)
        if type(value) is not first:
            message = f"expected {KINDS[first]} like the first value, found {KINDS[type(value)]}"
            raise LanguageError(message, _start_of_value(place) + 1)


def _start_of_value(found: Token) -> int:
    starts = [found.start(group) for group in ("sign", "time", found.lastgroup or 0)]
    return next(start for start in starts if start >= 0)


def _boolean_fault(place: Token) -> LanguageError:
    return LanguageError("a boolean can only be compared with = and !=", place.start("boolean") + 1)


def _trapezoid_fault(corners: list[float | None]) -> tuple[int, str] | None:
    """Which corner cannot stand beside the others, and why.

    >>> _trapezoid_fault([None, None, 5.0, 4.0])
    (3, 'the corners of a trapezoid must not go down')
    """
    for left, right, which in ((0, 1, "first"), (2, 3, "last")):
        if (corners[left] is None) != (corners[right] is None):
            lonely = left if corners[left] is None else right
            return lonely, f"of the {which} two corners both must be null, or none"
    known = [(corner, at) for at, corner in enumerate(corners) if corner is not None]
    for (low, _), (high, at) in pairwise(known):
        if low > high:
            return at, "the corners of a trapezoid must not go down"
    return None


def _around_fault(numbers: list[float | None]) -> tuple[int, str] | None:
    centre, spread = numbers
    if centre is None or spread is None:
        return int(centre is not None), "around takes two numbers, found null"
    if spread < 0:
        return 1, "a spread must not be negative"
    if math.isinf(centre + spread) or math.isinf(centre - spread):
        return 1, "this spread is too large for its centre"
    return None
