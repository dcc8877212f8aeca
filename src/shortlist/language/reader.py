"""A text, read from left to right: its tokens, and what to say where none of them fits."""

import math
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import lru_cache

from shortlist.language.errors import LanguageError
from shortlist.model.paths import Path, parse_path
from shortlist.model.settings import Limits
from shortlist.model.times import Instant, parse_time_or_date
from shortlist.model.wording import MOST_COMPARED, one_line

Token = re.Match[str]
NO_LEVELS: tuple[int, ...] = ()

NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
STRING = r"'[^']*+(?:''[^']*+)*+'"
QUOTED_NAME = r'"[^"]*+(?:""[^"]*+)*+"'
NAME = rf"(?:[^\W\d]\w*+|{QUOTED_NAME})"
PATH = rf"{NAME}(?:\.{NAME})*+"
SIGNED = rf"(?P<sign>[+-])\s*+)?+(?P<number>{NUMBER})|(?P<lonely>[+-]"
"""A number and the sign before it, or a sign that no number follows."""

LITERALS = re.compile(rf"({STRING}|(?<![\w.]){NUMBER})|({QUOTED_NAME})")
"""Literals, and names that may look as if they held one."""

FOUND = re.compile(
    rf"""(?P<string>{STRING})
      | (?P<number>{NUMBER})
      | (?P<word>\w+|{QUOTED_NAME})
      | (?P<open>['"])
      | (?P<symbol><>|!=|<=|>=|==|.)""",
    re.VERBOSE | re.DOTALL,
)
BROKEN_PATH = re.compile(rf"""[\w"]\.(?![^\W\d]|{QUOTED_NAME})""")

OPERATORS = "an operator (+, -, *, / or ^)"
ORDER = (OPERATORS, "'('", "':'", "an argument", "'weight'", "','", "']'", "')'")
"""What messages name first of that which could follow a token."""

LONGEST_SHOWN = 40
MOST_NAMES = 10


def token(**alternatives: str) -> re.Pattern[str]:
    """A pattern for the next token, whichever of these it is.

    >>> token(name=NAME, comma=",").match(" , x").lastgroup
    'comma'
    """
    groups = "|".join([f"(?P<{name}>{pattern})" for name, pattern in alternatives.items()])
    return re.compile(rf"\s*+(?:{groups})")


def word(*words: str) -> str:
    """A pattern for keywords in any case, but not for letters that only fold to these (ſ to s).

    >>> bool(re.match(word("is"), "IS not")), bool(re.match(word("is"), "isle"))
    (True, False)
    """
    return rf"(?ai:{'|'.join(words)})(?!\w)"


SIGNED_NUMBER = re.compile(rf"\s*+(?:(?:{SIGNED}))")
OPEN, CLOSE, MORE = token(open=r"\("), token(close=r"\)"), token(more=",", close=r"\)")
END = token(end=r"\Z")


@lru_cache(8_192)
def parted(text: str) -> tuple[str, tuple[str, ...]]:
    """A text's shape, with 1 for each number and '' for each string, and these literals. Texts of
    one shape mention the same things.

    >>> parted("rent between 5 and 1e3 or title = 'it''s'")
    ("rent between  1  and  1  or title =  '' ", ('5', '1e3', "'it''s'"))
    >>> parted('"5 rooms".x2 > 5')[0]
    '"5 rooms".x2 >  1 '
    """
    parts = LITERALS.split(text)
    found, names = parts[1::3], parts[2::3]
    # with spaces, so that no literal of the shape takes in what stands beside one of the text
    parts[1::3] = ["" if one is None else " '' " if one[0] == "'" else " 1 " for one in found]
    parts[2::3] = [name or "" for name in names]
    return "".join(parts), tuple([one for one in found if one is not None])


class Reader:
    """Takes token after token. The first fault from the left is the one that is told."""

    at = 0
    last: Token | None = None
    declined: tuple[str, ...] = ()
    declined_at = 0
    """What else could stand at a place than what is asked for there at last, and that place."""

    levels = NO_LEVELS
    """Of what was read last: where the first part begins that stands in 0, 1, 2, … others."""

    def __init__(self, text: str, limits: Limits) -> None:
        allowed = limits.expression_length
        if len(text) > allowed:
            raise LanguageError(
                f"the text has {len(text)} characters; at most {allowed} are allowed", allowed + 1
            )
        self.text = text
        self.limits = limits

    def take(self, pattern: re.Pattern[str], *expected: str) -> Token:
        """The next token, which must be of this pattern."""
        found = pattern.match(self.text, self.at)
        if found is None:
            raise self.unexpected(*expected)
        self.at = found.end()
        self.last = found
        return found

    def accept(self, pattern: re.Pattern[str], *expected: str) -> Token | None:
        """The next token if it is of this pattern."""
        found = pattern.match(self.text, self.at)
        if found is None:
            self.decline(*expected)
        else:
            self.at = found.end()
            self.last = found
        return found

    def decline(self, *expected: str) -> None:
        """Note what could have stood here."""
        earlier = self.declined if self.declined_at == self.at else ()
        self.declined_at, self.declined = self.at, earlier + expected

    def signed_number(self) -> float:
        return self.signed(self.take(SIGNED_NUMBER, "a number"))

    def signed(self, found: Token) -> float:
        """The value of a token with the groups of `SIGNED`."""
        if found["lonely"]:
            raise self.unexpected("a number")
        return number_of(found)

    def check_depth(self, depth: int, at: int) -> None:
        allowed = self.limits.expression_depth
        if depth > allowed:
            raise LanguageError(
                f"this is nested too deep; at most {allowed} levels are allowed", at + 1
            )

    def check_levels(self) -> None:
        beyond = self.limits.expression_depth + 1
        if len(self.levels) > beyond:
            self.check_depth(beyond, self.levels[beyond])

    def unexpected(self, *expected: str) -> LanguageError:
        """The error that something else stands where only this, or what was declined, may stand."""
        text = self.text.rstrip()
        at = min(len(self.text) - len(self.text[self.at :].lstrip()), len(text))
        after_name = BROKEN_PATH.match(self.text, max(at - 1, 0))
        if after_name:
            at += 1
        found = FOUND.match(text, at)
        if found and found["open"]:
            kind = "string" if found["open"] == "'" else "name"
            return LanguageError(f"this {kind} has no closing {found['open']}", at + 1)
        if after_name:
            words, previous = "a name", "."
        else:
            self.decline(*expected)
            words = _in_words(self.declined)
            previous = "" if self.last is None else self.last[self.last.lastgroup or 0]
        after = f" after {_quoted(previous)}" if previous else ""
        return LanguageError(f"expected {words}{after}, found {_found_in_words(found)}", at + 1)


def merged(levels: tuple[int, ...], later: tuple[int, ...]) -> tuple[int, ...]:
    """The levels of two parts side by side."""
    return levels + later[len(levels) :] if len(later) > len(levels) else levels


def start_of(found: Token) -> int:
    """Where a token begins, after the white space before it."""
    return found.end() - len(found[0].lstrip())


def fault(message: str, found: Token | None) -> LanguageError:
    """The error that a token cannot mean anything."""
    assert found is not None
    return LanguageError(message, start_of(found) + 1)


def number_of(found: Token) -> float:
    """The value of a token with a group `number`, and perhaps a group `sign`."""
    digits, sign = found.group("number", "sign")
    value = float(digits)
    if value == math.inf:
        message = f"{shown(digits)} is too large for a number"
        raise LanguageError(message, found.start("number") + 1)
    return 0.0 - value if sign == "-" else value


def text_of(string: str) -> str:
    """
    >>> text_of("'rock ''n'' roll'")
    "rock 'n' roll"
    """
    return string[1:-1].replace("''", "'")


def time_of(found: Token, group: str) -> Instant:
    """The time that the string in a group of a token tells."""
    try:
        return Instant(parse_time_or_date(text_of(found[group])))
    except ValueError as error:
        raise LanguageError(str(error), found.start(group) + 1) from None


path_of: Callable[[str], Path] = lru_cache(4_096)(parse_path)


def listed(wanted: str, names: Iterable[str]) -> str:
    """The names to choose from; if they are many, those most like the wanted one.

    >>> listed("chep", ["dear", "cheap"])
    'cheap, dear'
    """
    known = sorted(names)
    if len(known) > MOST_COMPARED or len(wanted) > LONGEST_SHOWN:
        known = [*known[:MOST_NAMES], "…"]
    elif len(known) > MOST_NAMES:
        known = [*get_close_matches(wanted, known, MOST_NAMES, cutoff=0.0), "…"]
    return ", ".join([shown(name) for name in known])


def shown(text: str) -> str:
    """Text of the user, fit for a message: short, and on one line.

    >>> print(shown("two\\nlines"), shown("x" * 99))
    two\\nlines xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
    """
    cut = text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…"
    return one_line(cut)


def _in_words(expected: tuple[str, ...]) -> str:
    ordered = [phrase for phrase in ORDER if phrase in expected]
    *others, last = [*ordered, *[phrase for phrase in expected if phrase not in ORDER]]
    return f"{', '.join(others)} or {last}" if others else last


def _found_in_words(found: Token | None) -> str:
    if found is None:
        return "the end of the text"
    if found.lastgroup in ("string", "number"):
        return f"the {found.lastgroup} {shown(found[0])}"
    return _quoted(found[0])


def _quoted(text: str) -> str:
    return shown(text) if text[0] in "'\"" else f"'{shown(text)}'"
