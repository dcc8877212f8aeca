"""Reads scores, by how tightly operators bind.

    score     = operand (("+" | "-" | "*" | "/" | "^") operand)*  "^" binds tightest, to the right
    operand   = NUMBER | PATH | "-" operand | "(" score ")" | PATH "(" [arguments] ")"
    arguments = argument ("," argument)*
    argument  = score | PATH ":" number ["weight" number] | STRING | "[" number ("," number)* "]"
    number    = ["+" | "-"] NUMBER

A leading minus binds tighter than `*` and less tightly than `^`.
"""

from collections.abc import Set
from functools import lru_cache
from typing import NamedTuple

from shortlist.language import tree
from shortlist.language.reader import (
    CLOSE,
    END,
    MORE,
    NUMBER,
    OPEN,
    OPERATORS,
    PATH,
    STRING,
    Reader,
    Token,
    fault,
    listed,
    merged,
    number_of,
    path_of,
    shown,
    start_of,
    text_of,
    token,
    word,
)
from shortlist.model.paths import CONTEXT, EVENT_TIME, Path
from shortlist.model.settings import Limits

PLAIN = ("min", "max", "abs", "sqrt", "log", "exp")
SPECIAL = ("distance", "max_distance", "relevance", "cosine")
BINDING = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 4}
SIGNED = 3
"""How tightly operators bind, and a leading minus."""

OPERAND = token(sign="(?!)", number=NUMBER, path=PATH, open=r"\(", minus="-")
ARGUMENT = token(
    sign="(?!)", number=NUMBER, path=PATH, open=r"\(", minus="-", string=STRING, vector=r"\["
)
OPERATOR = token(operator=r"[-+*/^]")
COLON, ALONE, WEIGHT = token(colon=":"), token(alone=r"[,)]"), token(weight=word("weight"))
MORE_NUMBERS = token(more=",", close=r"\]")

AN_OPERAND = "a number, an attribute, a function or '('"
FOUND = {
    "string": "a string",
    "axis": "an axis such as price: 450",
    "vector": "a vector such as [1, 2]",
}
Content = tree.Score | tree.Axis | str | tuple[float, ...] | None


class Argument(NamedTuple):
    """What stands in a call, and its first token; a lone name (`path`) is not looked up yet."""

    kind: str
    first: Token
    content: Content = None


@lru_cache(4_096)
def read_score(text: str, limits: Limits, audience: bool = False) -> tree.Score:
    """The tree of a score; an advertisement's is for its audience.

    >>> read_score("rating / 10", Limits())
    Arithmetic(operator='/', left=AttributeValue(path=('rating',)), right=Number(value=10.0))
    """
    return ScoreReader(text, limits, audience).read()


class ScoreReader(Reader):
    """Reads one score. Depth counts every operator, function and pair of parentheses around a
    part, so that `a + b + c` nests twice.
    """

    def __init__(self, text: str, limits: Limits, audience: bool) -> None:
        super().__init__(text, limits)
        self.audience = audience

    def read(self) -> tree.Score:
        score = self._score(self.take(OPERAND, AN_OPERAND), binding=1, depth=0)
        self.take(END, "the end of the text")
        self.check_levels()
        return score

    def _score(self, first: Token, binding: int, depth: int) -> tree.Score:
        """What begins with a token, as far as operators bind at least as tightly as this."""
        left = self._operand(first, depth)
        while found := OPERATOR.match(self.text, self.at):
            operator = found["operator"]
            tightness = BINDING[operator]
            if tightness < binding:
                break
            self.take(OPERATOR)
            self.check_levels()
            levels = self.levels
            right = self._part(SIGNED if operator == "^" else tightness + 1, depth + 1)
            left = tree.Arithmetic(operator, left, right)  # type: ignore[arg-type]
            self.levels = (levels[0], *merged(levels, self.levels))
        self.decline(OPERATORS)
        return left

    def _part(self, binding: int, depth: int) -> tree.Score:
        first = self.take(OPERAND, AN_OPERAND)
        self.check_depth(depth, start_of(first))
        return self._score(first, binding, depth)

    def _operand(self, first: Token, depth: int) -> tree.Score:
        start = start_of(first)
        match first.lastgroup:
            case "number":
                self.levels = (start,)
                return tree.Number(number_of(first))
            case "path":
                if self.accept(OPEN, "'('"):
                    return self._call(first, depth)
                self.levels = (start,)
                return self._name(first)
            case "open":
                score = self._part(1, depth + 1)
                self.take(CLOSE, "')'")
            case _:
                score = tree.Negate(self._part(SIGNED, depth + 1))
        self.levels = (start, *self.levels)
        return score

    def _name(self, first: Token) -> tree.Score:
        name = first["path"]
        word = name.lower()
        if word in ("possibility", "necessity"):
            if self.audience:
                raise fault(
                    f"an advertisement's score has no '{word}' (an attribute of that name is "
                    f'written "{name}")',
                    first,
                )
            return tree.Degree(word)  # type: ignore[arg-type]
        path = path_of(name)
        if self._is_of_subscription(name, path):
            return _of_subscription(first, path)
        if path in CONTEXT:
            raise fault(f"'{shown(name)}' is not a number", first)
        return tree.AttributeValue(path)

    def _is_of_subscription(self, name: str, path: Path) -> bool:
        return self.audience and path[0] == "subscription" and not name.startswith('"')

    def _call(self, name: Token, depth: int) -> tree.Score:
        function = name["path"].lower()
        if function not in PLAIN and function not in SPECIAL:
            known = listed(function, [*PLAIN, *SPECIAL])
            raise fault(f"'{shown(name['path'])}' is not a function; functions are {known}", name)
        levels: tuple[int, ...] = ()
        arguments: list[Argument] = []
        if not self.accept(CLOSE):
            while True:
                or_none = () if arguments else ("')'",)
                arguments.append(self._argument(depth + 1, "an argument", *or_none))
                levels = merged(levels, self.levels)
                if self.take(MORE, "','", "')'")["close"]:
                    break
        self.levels = (start_of(name),)
        match function:
            case "distance" | "max_distance":
                return self._distance(function, name, arguments)
            case "relevance":
                return self._relevance(name, arguments)
            case "cosine":
                return self._cosine(name, arguments)
        self.levels += levels
        return self._plain_call(function, name, arguments)

    def _argument(self, depth: int, *expected: str) -> Argument:
        first = self.take(ARGUMENT, *expected)
        start = start_of(first)
        self.levels = (start,)
        match first.lastgroup:
            case "string":
                return Argument("string", first, text_of(first["string"]))
            case "vector":
                numbers, first = [self.signed_number()], self.last or first
                while self.take(MORE_NUMBERS, "','", "']'")["more"]:
                    numbers.append(self.signed_number())
                return Argument("vector", first, tuple(numbers))
            case "path" if self.accept(COLON, "':'"):
                return Argument("axis", first, self._axis(first))
            case "path" if ALONE.match(self.text, self.at):
                return Argument("path", first)
        self.check_depth(depth, start)
        return Argument("score", first, self._score(first, 1, depth))

    def _axis(self, first: Token) -> tree.Axis:
        value, weight = self.signed_number(), 1.0
        if self.accept(WEIGHT, "'weight'"):
            weight = self.signed_number()
            if weight < 0:
                raise fault("a weight must not be negative", self.last)
        return tree.Axis(self._attribute(first, "number", CONTEXT), value, weight)

    def _plain_call(self, function: str, name: Token, arguments: list[Argument]) -> tree.Call:
        if function in ("min", "max"):
            if not arguments:
                raise fault(f"{function} takes one number or more", name)
        elif len(arguments) != 1:
            raise fault(f"{function} takes one number, found {len(arguments)}", name)
        numbers = []
        for kind, first, content in arguments:
            if kind in FOUND:
                raise fault(f"{function} takes numbers, found {FOUND[kind]}", first)
            numbers.append(self._name(first) if content is None else content)
        return tree.Call(function, tuple(numbers))  # type: ignore[arg-type]

    def _distance(self, kind: str, name: Token, arguments: list[Argument]) -> tree.Distance:
        if not arguments:
            raise fault(f"{kind} takes one axis or more, such as price: 450", name)
        for argument in arguments:
            if argument.kind != "axis":
                raise fault(f"{kind} takes axes such as price: 450", argument.first)
        return tree.Distance(kind, tuple([argument.content for argument in arguments]))  # type: ignore[arg-type,misc]

    def _relevance(self, name: Token, arguments: list[Argument]) -> tree.Relevance:
        usage = "relevance takes an attribute and a string such as 'tim burton'"
        attribute, query = _pair(usage, "string", name, arguments)
        return tree.Relevance(self._attribute(attribute, "text", {EVENT_TIME}), query)  # type: ignore[arg-type]

    def _cosine(self, name: Token, arguments: list[Argument]) -> tree.Cosine:
        usage = "cosine takes an attribute and a vector such as [1, 2]"
        attribute, vector = _pair(usage, "vector", name, arguments)
        return tree.Cosine(self._attribute(attribute, "vector", CONTEXT), vector)  # type: ignore[arg-type]

    def _attribute(self, found: Token, wanted: str, excluded: Set[Path]) -> Path:
        """The path that a token names, where it can only be an attribute of a publication."""
        name = found["path"]
        path = path_of(name)
        if self._is_of_subscription(name, path):
            raise fault(f"expected an attribute of the publication, found '{shown(name)}'", found)
        if path in excluded:
            raise fault(f"'{shown(name)}' is not a {wanted}", found)
        return path


def _pair(usage: str, kind: str, name: Token, arguments: list[Argument]) -> tuple[Token, Content]:
    """The arguments of a call that takes an attribute and something of another kind."""
    if len(arguments) != 2:
        raise fault(f"{usage}, found {len(arguments)}", name)
    for argument, wanted in zip(arguments, ("path", kind), strict=True):
        if argument.kind != wanted:
            raise fault(usage, argument.first)
    return arguments[0].first, arguments[1].content


def _of_subscription(found: Token, path: Path) -> tree.OfSubscription:
    match path:
        case (_, "score" | "volume" as name):
            return tree.OfSubscription(name)
        case (_, "profile", key):
            return tree.OfSubscription("profile", key)
    raise fault(
        "expected subscription.score, subscription.volume or subscription.profile.NAME, "
        f"found '{shown(found['path'])}' (an attribute of that name starts with \"subscription\")",
        found,
    )
