"""Documents as what they are: objects and lists within each other, some of them null."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

PLAIN = frozenset((str, int, float, bool, type(None)))
"""What holds nothing else; most values are of these types."""


def is_too_deep(document: object, most: int) -> bool:
    """Whether objects and lists nest deeper than allowed; found without nesting calls.

    >>> is_too_deep({"a": [{"b": 1}]}, 3), is_too_deep({"a": [{"b": 1}]}, 2)
    (False, True)
    """
    level = _holders([document])
    for _ in range(most):
        if not level:
            return False
        level = _holders([child for value in level for child in _children(value)])
    return bool(level)


def _holders(values: Iterable[object]) -> Collection[object]:
    """Those that hold something, each once, since YAML may name one object in many places."""
    return {
        id(value): value for value in values if type(value) not in PLAIN and _children(value)
    }.values()


def _children(value: object) -> Collection[object]:
    if type(value) is dict or isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def without_nulls(document: object) -> Any:
    """Null is absent, in every object; only a window and a policy's scales may be null."""
    if isinstance(document, list):
        return [part if type(part) in PLAIN else without_nulls(part) for part in document]
    if type(document) is not dict and not isinstance(document, Mapping):
        return document
    is_policy = "kind" in document
    return {
        name: value
        if type(value) in PLAIN or (is_policy and name == "over")
        else without_nulls(value)
        for name, value in document.items()
        if value is not None or name == "window"
    }
