"""How messages speak of a value: short and on one line, whatever the value is."""

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from itertools import islice

# As many as Python makes a number of, or writes one with, unless a program allows it more.
MOST_DIGITS = 4300
LONGEST = 60
MOST_PARTS = 6
# To compare a name with so many others takes up to some hundredths of a second.
MOST_COMPARED = 1_000
# Messages of one kind that say which name was perhaps meant.
MOST_HINTS = 20
FEW_NAMES = 5
# The reason that explanations give for a publication that was retracted.
RETRACTED = "retracted by its publisher"
# Characters of another library's error that a message repeats.
MAX_ERROR_LENGTH = 200


class _TooLong(int):
    """A number that can be printed: libraries print the values that they refuse."""

    def __repr__(self) -> str:
        return f"a number of over {MOST_DIGITS} digits"


# The first whole number that no text can hold. Readers of registries put it in the place of any
# longer one, so that the field that holds it can be named; every field refuses it.
TOO_LONG = _TooLong(10**MOST_DIGITS)


def shown(value: object) -> str:
    """A value of a document, fit for a message.

    >>> print(shown([1, None, "two\\nlines"]), shown({"kind": "top-k", "k": 0}))
    [1, null, 'two\\nlines'] {kind: 'top-k', k: 0}
    >>> shown("x" * 99) == "'" + "x" * 58 + "…"
    True
    """
    text = one_line(_shown(value, depth=2))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def one_line(text: str) -> str:
    """The text without anything that would break its line or that cannot be printed.

    >>> print(one_line("a\\tb"))
    a\\tb
    """
    if text.isprintable():
        return text
    return "".join([part if part.isprintable() else repr(part)[1:-1] for part in text])


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, cut to `MAX_ERROR_LENGTH` characters.

    >>> first_line(ValueError("expected a table\\nArrow's stack trace"))
    'expected a table'
    """
    return str(error).partition("\n")[0][:MAX_ERROR_LENGTH]


def _shown(value: object, depth: int) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int():
            return _digits(value)
        case float():
            return repr(value)
        case str() | bytes():
            return repr(value[:LONGEST])
        case Mapping():
            pairs = islice(value.items(), MOST_PARTS)
            named = [f"{one_line(key_text(key))}: {_shown(part, depth - 1)}" for key, part in pairs]
            return _bounded(named, len(value), depth, "{}")
        case list() | tuple():
            parts = [_shown(part, depth - 1) for part in value[:MOST_PARTS]] if depth else []
            return _bounded(parts, len(value), depth, "[]")
    return f"a value of the type {type(value).__name__}"


def key_text(key: object) -> str:
    """A key of a document as messages have it; YAML has keys that are no text."""
    return _digits(key) if isinstance(key, int) else str(key)[:LONGEST]


def _digits(value: int) -> str:
    try:
        return str(value)
    except ValueError:
        return str(TOO_LONG)


def _bounded(parts: list[str], size: int, depth: int, brackets: str) -> str:
    if size and not depth:
        parts = ["…"]
    elif size > MOST_PARTS:
        parts.append("…")
    return brackets[0] + ", ".join(parts) + brackets[1]


def alike(name: str, known: Collection[str], cutoff: float = 0.75) -> str | None:
    """The known name that is most like another; None where none is, or where comparing takes long:
    among very many names, and for long ones.

    >>> alike("flat", ["films", "flats"]), alike("x", ["flats"])
    ('flats', None)
    """
    if not known or len(known) > MOST_COMPARED or len(name) > LONGEST:
        return None
    short = sorted(each for each in known if len(each) <= LONGEST)
    found = get_close_matches(name, short, n=1, cutoff=cutoff)
    return found[0] if found else None


def choice_of(name: str, known: Iterable[str]) -> str:
    """What somebody may have meant, for a message.

    >>> choice_of("flat", ["films", "flats"]), choice_of("x", [])
    ("did you mean 'flats'?", 'there is none')
    >>> choice_of("x", "abcdefg")
    "there are 'a', 'b', 'c', 'd', 'e' and 2 more"
    """
    names = sorted(known)
    meant = alike(name, names)
    if meant is not None:
        return f"did you mean {meant!r}?"
    if not names:
        return "there is none"
    few = [repr(one) for one in names[:FEW_NAMES]]
    if len(names) > FEW_NAMES:
        return f"there are {', '.join(few)} and {len(names) - FEW_NAMES:,} more"
    return "there is " + few[0] if len(few) == 1 else f"there are {', '.join(few)}"
