"""Texts without their literals, found by regular expressions: fast, and only nearly a parser."""

import re
from typing import NamedTuple

STRING = r"'[^']*+(?:''[^']*+)*+'"
QUOTED_NAME = r'"[^"]*+(?:""[^"]*+)*+"'
NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"

LITERAL = re.compile(rf"({STRING}|(?<![\w.]){NUMBER})|{QUOTED_NAME}")
"""A literal as the grammar has it, or a name that may look as if it held one."""

PREDICATE = re.compile(
    rf"""(
      (?<![\w.])(?=[^\W\d]|")(?!(?ai:and|or|not)(?![\w.]))
      (?: [^\s()'"]++
        | \s++(?: (?ai:between)\s++(?:(?ai:time)\s++)?(?:[^\s()'"]++|{STRING})\s++(?ai:and)(?!\w)
                | (?!(?ai:and|or)(?!\w)|\)|\Z) )
        | {STRING}
        | \((?:[^()'"]|{STRING}|{QUOTED_NAME})*+\)
        | {QUOTED_NAME}
      )++
    )""",
    re.VERBOSE,
)
"""Whatever stands between `and`, `or`, a leading `not` and the parentheses around those."""

PLACE, PLACE_PATH = "_ exists", ("_",)
"""The predicate that takes the place of every other one."""


class Shape(NamedTuple):
    """A text with 0 for each number and '' for each string, and what stood there."""

    text: str
    literals: list[str]


class Outline(NamedTuple):
    """A condition with `PLACE` for each predicate, and what stood there."""

    text: str
    predicates: list[str]


def shape(text: str) -> Shape:
    """
    >>> shape("rent between 5 and 1e3 or title = 'it''s'")
    Shape(text="rent between 0 and 0 or title = ''", literals=['5', '1e3', "'it''s'"])
    >>> shape('"5 rooms".x2 > 5')
    Shape(text='"5 rooms".x2 > 0', literals=['5'])
    """
    literals: list[str] = []

    def take(found: re.Match[str]) -> str:
        literal: str | None = found[1]
        if literal is None:
            return found[0]
        literals.append(literal)
        return "''" if literal[0] == "'" else "0"

    return Shape(LITERAL.sub(take, text), literals)


def outline(condition: str) -> Outline:
    """
    >>> outline("rent between 5 and 7 and not (rooms in (1, 2) or title contains ' or ')")
    Outline(text='_ exists and not (_ exists or _ exists)', predicates=['rent between 5 and 7', \
'rooms in (1, 2)', "title contains ' or '"])
    """
    parts = PREDICATE.split(condition)
    return Outline(PLACE.join(parts[::2]), parts[1::2])
