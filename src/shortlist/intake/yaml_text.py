"""YAML, kept to what JSON can say: no times, no sets, and no key twice in one mapping."""

import re
from contextlib import suppress
from typing import Any

import yaml
from yaml.composer import Composer

from shortlist.model.wording import MOST_DIGITS, TOO_LONG, shown

MERGE = "tag:yaml.org,2002:merge"
TEXT = "tag:yaml.org,2002:str"
BOOLEAN = "tag:yaml.org,2002:bool"
REFUSED = ("binary", "omap", "pairs", "set")
UNFIT = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError)
"""What explicit tags on values that do not fit them lead to, such as `!!int ""`."""


LONG_NUMBER = re.compile(rf"[-+]?[0-9_]{{{MOST_DIGITS},}}")
# Nodes that aliases may repeat in any text, and times the nodes that are written in it. Many
# subscriptions may share a policy, or attributes their terms; but 26 lines that each name the one
# before twice stand for 2^25 values, and filled 6 GB.
MOST_REPEATED, REPEATED_PER_NODE = 1_000_000, 10


class NotYaml(ValueError):
    """Why a text is not one YAML document, or says what JSON cannot."""


def parse_yaml(text: str) -> Any:
    """The value that a text holds; None if it holds none.

    >>> parse_yaml("released: 2026-03-01")
    {'released': '2026-03-01'}
    >>> parse_yaml("{at: 18:00, on: fri}")
    {'at': '18:00', 'on': 'fri'}
    >>> parse_yaml("rent: {type: number}\\nrent: {type: string}")
    Traceback (most recent call last):
    shortlist.intake.yaml_text.NotYaml: line 2, column 1: the key 'rent' stands twice in one mapping
    """
    # What libyaml refuses the plain reader must find words for; about tabs the two differ.
    if "\t" not in text:
        with suppress(yaml.YAMLError, RecursionError, *UNFIT):
            return yaml.load(text, Loader=_FastLoader)
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        raise NotYaml(_marked(error)) from None
    except yaml.YAMLError as error:
        raise NotYaml(" ".join(str(error).split())) from None
    except RecursionError:
        raise NotYaml("nested too deep") from None
    except UNFIT as error:
        raise NotYaml(f"a value that cannot be read: {error}") from None


def _marked(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    return place + " ".join(str(error.problem or error.context).split())


class _Composer(Composer):
    """Compose nodes, and bound how many of them aliases repeat.

    Aliases share one node here, but whatever goes through a document meets it once for each.
    """

    def __init__(self) -> None:
        Composer.__init__(self)
        self._nodes = 0
        self._repeated = 0
        # By anchor: nodes in what it names, with all that aliases in there repeat.
        self._sizes: dict[str | None, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: yaml.NodeEvent = self.peek_event()  # type: ignore[attr-defined]
        if isinstance(event, yaml.AliasEvent):
            # An alias within what it names has no size yet; the constructor refuses it.
            self._repeated += self._sizes.get(event.anchor, 0)
            most = max(MOST_REPEATED, REPEATED_PER_NODE * self._nodes)
            if self._repeated > most:
                raise _error(f"expected aliases that repeat at most {most} values", event)
            return super().compose_node(parent, index)
        before = self._nodes + self._repeated
        self._nodes += 1
        node = super().compose_node(parent, index)
        if event.anchor is not None:
            self._sizes[event.anchor] = self._nodes + self._repeated - before
        return node


class _Loader(_Composer, yaml.SafeLoader):
    """Times stay text: attributes declared `time` and policies read them as such."""

    def __init__(self, text: str) -> None:
        yaml.SafeLoader.__init__(self, text)
        _Composer.__init__(self)


def _fast_loader() -> type[Any]:
    """The same, read by libyaml where it is there, but composed here: its own composer crashes
    where texts nest deep.
    """
    if not yaml.__with_libyaml__:
        return _Loader

    class FastLoader(_Composer, yaml.CSafeLoader):
        def __init__(self, text: str) -> None:
            _Composer.__init__(self)
            yaml.CSafeLoader.__init__(self, text)

    return FastLoader


_FastLoader = _fast_loader()


def _mapping(loader: _Loader, node: yaml.Node) -> dict[Any, Any]:
    if not isinstance(node, yaml.MappingNode):
        raise _error("expected a mapping", node)
    seen = set()
    for key, _ in node.value:
        if key.tag == MERGE:
            continue
        if not isinstance(key, yaml.ScalarNode):
            raise _error("expected a name as key", key)
        if key.tag == BOOLEAN and key.value.lower() not in ("true", "false"):
            key.tag = TEXT  # `on` is a name
        name = loader.construct_object(key)
        if name in seen:
            raise _error(f"the key {shown(name)} stands twice in one mapping", key)
        seen.add(name)
    return loader.construct_mapping(node, deep=True)


def _whole(loader: _Loader, node: yaml.Node) -> Any:
    """18:00 is a time of day, not 1080."""
    if not isinstance(node, yaml.ScalarNode) or ":" in node.value:
        return loader.construct_yaml_str(node)
    try:
        number = loader.construct_yaml_int(node)
        return number if abs(number) < TOO_LONG else TOO_LONG  # as hexadecimal ones may be
    except ValueError:
        if LONG_NUMBER.fullmatch(node.value):
            return TOO_LONG
        raise


def _refused(_: _Loader, node: yaml.Node) -> Any:
    raise _error(f"{node.tag.replace('tag:yaml.org,2002:', '!!')} has no place in a registry", node)


def _error(message: str, node: yaml.Node | yaml.NodeEvent) -> yaml.MarkedYAMLError:
    mark: Any = node.start_mark
    return yaml.MarkedYAMLError(problem=message, problem_mark=mark)


_CONSTRUCTORS = {
    "map": _mapping,
    "timestamp": yaml.SafeLoader.construct_yaml_str,
    "int": _whole,
    **dict.fromkeys(REFUSED, _refused),
}
for _name, _constructor in _CONSTRUCTORS.items():
    for _loader in (_Loader, _FastLoader):
        _loader.add_constructor(f"tag:yaml.org,2002:{_name}", _constructor)
