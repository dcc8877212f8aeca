"""A score's tree of tokens to its tree of operations."""

from collections.abc import Callable, Sequence
from typing import Any

from lark import Token, Tree

from shortlist.language.errors import LanguageError
from shortlist.language.literals import number_of, path_of, signed_number, text_of
from shortlist.language.syntax import Branch, check_depth, column, listed, read_syntax, shown
from shortlist.language.tree import (
    Arithmetic,
    AttributeValue,
    Axis,
    Call,
    Cosine,
    Degree,
    Distance,
    Negate,
    Number,
    OfSubscription,
    Relevance,
    Score,
)
from shortlist.model.paths import CONTEXT, EVENT_TIME, Path
from shortlist.model.settings import Limits

PLAIN = ("min", "max", "abs", "sqrt", "log", "exp")
ARGUMENTS = {
    "string": "a string",
    "axis": "an axis such as price: 450",
    "vector": "a vector such as [1, 2]",
}


def read_score(text: str, limits: Limits, audience: bool = False) -> Score:
    """The tree of a score, by parsing all of it; an advertisement's is for its audience.

    >>> read_score("rating / 10", Limits())
    Arithmetic(operator='/', left=AttributeValue(path=('rating',)), right=Number(value=10.0))
    """
    return ScoreReader(audience, limits).read(read_syntax(text, "sum", limits))


class ScoreReader:
    """Reads one score. Depth counts every operator, function and pair of parentheses around a
    part, so that `a + b + c` nests twice.
    """

    def __init__(self, audience: bool, limits: Limits) -> None:
        self.audience = audience
        self.limits = limits
        self.special: dict[str, Callable[[Token, list[Branch]], Score]] = {
            "distance": self._distance,
            "max_distance": self._distance,
            "relevance": self._relevance,
            "cosine": self._cosine,
        }

    def read(self, tree: Branch, depth: int = 0) -> Score:
        check_depth(tree, depth, self.limits)
        match [tree.data, *tree.children]:
            case ["constant", Token() as digits]:
                return Number(number_of(digits))
            case ["name", Token() as name]:
                return self._name(name)
            case ["group", _, Tree() as inner]:
                return self.read(inner, depth + 1)
            case ["negate", _, Tree() as operand]:
                return Negate(self.read(operand, depth + 1))
            case ["arithmetic", Tree() as left, Token() as operator, Tree() as right]:
                return Arithmetic(
                    str(operator),  # type: ignore[arg-type]
                    self.read(left, depth + 1),
                    self.read(right, depth + 1),
                )
            case ["call", Token() as name, *arguments]:
                trees = [argument for argument in arguments if isinstance(argument, Tree)]
                return self._call(name, trees, depth + 1)
        raise AssertionError(f"no rule makes {tree.data}")

    def _name(self, token: Token) -> Score:
        word = token.lower()
        if word in ("possibility", "necessity"):
            if self.audience:
                raise LanguageError(
                    f"an advertisement's score has no '{word}' (an attribute of that name is "
                    f'written "{token}")',
                    column(token),
                )
            return Degree(word)  # type: ignore[arg-type]
        path = path_of(token)
        if self._is_of_subscription(token, path):
            return _of_subscription(token, path)
        if path in CONTEXT:
            raise LanguageError(f"'{shown(token)}' is not a number", column(token))
        return AttributeValue(path)

    def _is_of_subscription(self, token: Token, path: Path) -> bool:
        return self.audience and path[0] == "subscription" and not token.startswith('"')

    def _call(self, name: Token, arguments: list[Branch], depth: int) -> Score:
        function = name.lower()
        if function in self.special:
            return self.special[function](name, arguments)
        if function in PLAIN:
            return self._plain_call(name, arguments, depth)
        known = listed(function, [*PLAIN, *self.special])
        raise LanguageError(
            f"'{shown(name)}' is not a function; functions are {known}", column(name)
        )

    def _plain_call(self, name: Token, arguments: list[Branch], depth: int) -> Call:
        function = name.lower()
        if function in ("min", "max"):
            if not arguments:
                raise LanguageError(f"{function} takes one number or more", column(name))
        elif len(arguments) != 1:
            raise LanguageError(
                f"{function} takes one number, found {len(arguments)}", column(name)
            )
        numbers = tuple([self._number(function, argument, depth) for argument in arguments])
        return Call(function, numbers)  # type: ignore[arg-type]

    def _number(self, function: str, argument: Branch, depth: int) -> Score:
        if argument.data in ARGUMENTS:
            found = ARGUMENTS[argument.data]
            raise LanguageError(f"{function} takes numbers, found {found}", column(argument))
        return self.read(argument, depth)

    def _distance(self, name: Token, arguments: list[Branch]) -> Distance:
        kind = name.lower()
        if not arguments:
            raise LanguageError(f"{kind} takes one axis or more, such as price: 450", column(name))
        axes = tuple([self._axis(kind, argument) for argument in arguments])
        return Distance(kind, axes)  # type: ignore[arg-type]

    def _axis(self, kind: str, argument: Branch) -> Axis:
        if argument.data != "axis":
            raise LanguageError(f"{kind} takes axes such as price: 450", column(argument))
        parts: list[Any] = argument.children
        name, value, weight = parts
        path = self._attribute(name)
        if path in CONTEXT:
            raise LanguageError(f"'{shown(name)}' is not a number", column(name))
        if weight is None:
            return Axis(path, signed_number(value))
        factor = signed_number(weight)
        if factor < 0:
            raise LanguageError("a weight must not be negative", column(weight))
        return Axis(path, signed_number(value), factor)

    def _relevance(self, name: Token, arguments: list[Branch]) -> Relevance:
        attribute, query = self._pair(name, arguments, "string", "'tim burton'")
        path = self._attribute(attribute)
        if path == EVENT_TIME:
            raise LanguageError(f"'{shown(attribute)}' is not a text", column(attribute))
        (token,) = query
        assert isinstance(token, Token)
        return Relevance(path, text_of(token))

    def _cosine(self, name: Token, arguments: list[Branch]) -> Cosine:
        attribute, vector = self._pair(name, arguments, "vector", "[1, 2]")
        path = self._attribute(attribute)
        if path in CONTEXT:
            raise LanguageError(f"'{shown(attribute)}' is not a vector", column(attribute))
        numbers = [signed_number(part) for part in vector if isinstance(part, Tree)]
        return Cosine(path, tuple(numbers))

    def _pair(
        self, name: Token, arguments: list[Branch], second: str, example: str
    ) -> tuple[Token, Sequence[Branch | Token]]:
        """The parts of a call that takes an attribute and something else."""
        usage = f"{name.lower()} takes an attribute and {ARGUMENTS[second]}"
        usage += f" such as {example}" if second == "string" else ""
        if len(arguments) != 2:
            raise LanguageError(f"{usage}, found {len(arguments)}", column(name))
        for argument, kind in zip(arguments, ("name", second), strict=True):
            if argument.data != kind:
                raise LanguageError(usage, column(argument))
        (attribute,) = arguments[0].children
        assert isinstance(attribute, Token)
        return attribute, arguments[1].children

    def _attribute(self, token: Token) -> Path:
        path = path_of(token)
        if self._is_of_subscription(token, path):
            raise LanguageError(
                f"expected an attribute of the publication, found '{shown(token)}'", column(token)
            )
        return path


def _of_subscription(token: Token, path: Path) -> OfSubscription:
    match path:
        case (_, "score" | "volume" as name):
            return OfSubscription(name)
        case (_, "profile", key):
            return OfSubscription("profile", key)
    raise LanguageError(
        "expected subscription.score, subscription.volume or subscription.profile.NAME, "
        f"found '{shown(token)}' (an attribute of that name starts with \"subscription\")",
        column(token),
    )
