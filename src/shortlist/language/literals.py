"""Tokens, or their texts, to values."""

import math

from lark import Token

from shortlist.language.errors import LanguageError
from shortlist.language.syntax import Branch, column, shown
from shortlist.language.tree import Scalar
from shortlist.model.paths import Path, parse_path
from shortlist.model.times import Instant, parse_time_or_date


def number_of(token: str, sign: str | None = None) -> float:
    """
    >>> number_of(Token("NUMBER", "1.5e3"), "-")
    -1500.0
    >>> number_of(Token("NUMBER", "0"), "-")
    0.0
    """
    value = float(token)
    if math.isinf(value):
        raise LanguageError(f"{shown(token)} is too large for a number", column(token))
    return 0.0 - value if sign == "-" else value


def signed_number(tree: Branch) -> float:
    """The value of a `number` of the grammar."""
    sign, digits = tree.children
    assert isinstance(digits, Token)
    return number_of(digits, None if sign is None else str(sign))


def text_of(token: str) -> str:
    """
    >>> text_of(Token("STRING", "'rock ''n'' roll'"))
    "rock 'n' roll"
    """
    return token[1:-1].replace("''", "'")


def time_of(token: str) -> Instant:
    """
    >>> time_of(Token("STRING", "'1970-01-02'"))
    Instant(micros=86400000000)
    """
    try:
        return Instant(parse_time_or_date(text_of(token)))
    except ValueError as error:
        raise LanguageError(str(error), column(token)) from None


def path_of(token: Token) -> Path:
    """
    >>> path_of(Token("PATH", 'address."zip code"'))
    ('address', 'zip code')
    """
    return parse_path(str(token))


def scalar_of(tree: Branch, is_time: bool) -> Scalar:
    """The value of a `literal` of the grammar; a plain string may stand for a time."""
    token = tree.children[-1]
    assert isinstance(token, Token)
    match tree.data:
        case "number":
            return signed_number(tree)
        case "boolean":
            return token.lower() == "true"
        case "string" if not is_time:
            return text_of(token)
        case _:
            return time_of(token)
