"""Text to a tree of tokens, and what to say where that fails."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Literal

from lark import Lark, Token, Tree, UnexpectedInput

from shortlist.language.errors import LanguageError
from shortlist.model.settings import Limits

Start = Literal["disjunction", "sum"]
Branch = Tree[Token]
Node = Branch | Token

PHRASES: tuple[tuple[str, list[str]], ...] = (
    ("NOT LPAR PATH", ["a condition"]),
    ("MINUS LPAR PATH NUMBER STRING LSQB", ["an argument"]),
    ("MINUS LPAR PATH NUMBER", ["a number", "an attribute", "a function", "'('"]),
    (
        "SIGN NUMBER STRING BOOLEAN TIME",
        ["a value (a number, a string in single quotes, true, false or time '…')"],
    ),
    ("SIGN NUMBER", ["a number"]),
    ("NUMBER", ["a number"]),
    ("STRING", ["a string in single quotes"]),
    ("COMPARE", ["a comparison (=, !=, <, <=, > or >=)"]),
    ("NOT", ["'not'"]),
    ("_IN", ["'in'"]),
    ("_BETWEEN", ["'between'"]),
    ("TEXT_OPERATOR", ["'contains'", "'starts with'", "'ends with'"]),
    ("_EXISTS", ["'exists'"]),
    ("_IS", ["'is'"]),
    ("HEDGE", ["'very'", "'somewhat'"]),
    ("NAME SHAPE", ["a term"]),
    ("NULL", ["null"]),
    ("DEGREE", ["'possibility'", "'necessity'"]),
    ("_AT_LEAST", ["'>='"]),
    ("SUM PRODUCT POWER", ["an operator (+, -, *, / or ^)"]),
    ("SUM PRODUCT", ["an operator (+, -, * or /)"]),
    ("_WEIGHT", ["'weight'"]),
    ("LPAR", ["'('"]),
    ("COLON", ["':'"]),
    ("COMMA", ["','"]),
    ("RSQB", ["']'"]),
    ("RPAR", ["')'"]),
    ("_AND", ["'and'"]),
    ("_OR", ["'or'"]),
    ("$END", ["the end of the text"]),
)
"""Tokens of the grammar in words; the first row whose tokens could all stand speaks for them."""

FOUND = re.compile(
    r"""(?P<string>'(?:[^']|'')*'(?!'))
      | (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<word>\w+|"(?:[^"]|"")*"(?!"))
      | (?P<open>['"])
      | (?P<symbol><>|!=|<=|>=|==|.)""",
    re.VERBOSE | re.DOTALL,
)
BROKEN_PATH = re.compile(r"""[\w"]\.(?![^\W\d]|"(?:[^"]|"")*")""")
LONGEST_SHOWN = 40
MOST_NAMES = 10


def read_syntax(text: str, start: Start, limits: Limits) -> Branch:
    """The tree of tokens; never recursive, however deep the text nests.

    >>> read_syntax("rent <", "disjunction", Limits())
    Traceback (most recent call last):
    shortlist.language.errors.LanguageError: column 7: expected a value (a number, a string in \
single quotes, true, false or time '…') after '<', found the end of the text
    """
    if len(text) > limits.expression_length:
        allowed = limits.expression_length
        raise LanguageError(
            f"the text has {len(text)} characters; at most {allowed} are allowed", allowed + 1
        )
    try:
        return _grammar().parse(text, start)
    except UnexpectedInput as error:
        at = len(text.rstrip()) if _is_end(error) else error.pos_in_stream or 0
    raise _explained(text, start, at)


def column(node: Branch | str) -> int:
    """Where a part of the text begins, counted from 1; for text that is no token, 1.

    >>> column(read_syntax("  rent > 5", "disjunction", Limits()))
    3
    """
    while isinstance(node, Tree):
        node = next(child for child in node.children if child is not None)
    return (node.start_pos or 0) + 1 if isinstance(node, Token) else 1


def check_depth(node: Node, depth: int, limits: Limits) -> None:
    """
    >>> check_depth(Token("PATH", "rent", 6), 5, Limits(expression_depth=4))
    Traceback (most recent call last):
    shortlist.language.errors.LanguageError: column 7: this is nested too deep; at most 4 levels \
are allowed
    """
    allowed = limits.expression_depth
    if depth > allowed:
        raise LanguageError(
            f"this is nested too deep; at most {allowed} levels are allowed", column(node)
        )


def listed(wanted: str, names: Iterable[str]) -> str:
    """The names to choose from; if they are many, those most like the wanted one.

    >>> listed("chep", ["dear", "cheap"])
    'cheap, dear'
    """
    known = sorted(names)
    if len(known) > MOST_NAMES:
        known = [*get_close_matches(wanted, known, MOST_NAMES, cutoff=0.0), "…"]
    return ", ".join([shown(name) for name in known])


def shown(text: str) -> str:
    """Text of the user, fit for a message: short, and on one line.

    >>> print(shown("two\\nlines"), shown("x" * 99))
    two\\nlines xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
    """
    cut = text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…"
    return "".join([part if part.isprintable() else repr(part)[1:-1] for part in cut])


@cache
def _grammar() -> Lark:
    text = files("shortlist.language").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="contextual", start=["disjunction", "sum"])


def _is_end(error: UnexpectedInput) -> bool:
    token = getattr(error, "token", None)
    return token is not None and token.type == "$END"


def _explained(text: str, start: Start, at: int) -> LanguageError:
    after_name = BROKEN_PATH.match(text, max(at - 1, 0))
    if after_name:
        at += 1
    found = FOUND.match(text.rstrip(), at)
    if found and found["open"]:
        kind = "string" if found["open"] == "'" else "name"
        return LanguageError(f"this {kind} has no closing {found['open']}", at + 1)
    if after_name:
        expected, previous = "a name", "."
    else:
        acceptable, previous = _acceptable(text, start, at)
        expected = _in_words(acceptable)
    after = f" after {_quoted(previous)}" if previous else ""
    return LanguageError(f"expected {expected}{after}, found {_found_in_words(found)}", at + 1)


def _acceptable(text: str, start: Start, at: int) -> tuple[set[str], str]:
    """Which tokens could stand at a position, and the text of the token before it.

    The failed parse cannot tell: it has reduced what stands before the bad token, and forgotten
    what else could have followed. So the text is read again up to there.
    """
    parser, previous = _grammar().parse_interactive(text, start), ""
    try:
        for token in parser.iter_parse():
            if (token.start_pos or 0) >= at:
                break
            previous = str(token)
    except UnexpectedInput:
        pass  # the same error again: the position holds no token that fits
    return parser.accepts(), previous  # type: ignore[no-untyped-call]


def _in_words(acceptable: set[str]) -> str:
    left, phrases = set(acceptable), list[str]()
    for tokens, words in PHRASES:
        if left.issuperset(tokens.split()):
            phrases += words
            left.difference_update(tokens.split())
    *others, last = phrases
    return f"{', '.join(others)} or {last}" if others else last


def _found_in_words(found: re.Match[str] | None) -> str:
    if found is None:
        return "the end of the text"
    if found.lastgroup in ("string", "number"):
        return f"the {found.lastgroup} {shown(found[0])}"
    return _quoted(found[0])


def _quoted(text: str) -> str:
    return shown(text) if text[0] in "'\"" else f"'{shown(text)}'"
