"""Commands as users give them: nouns in files, or names."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from shortlist.cli.sending import STANDARD_INPUT, incoming
from shortlist.intake.builder import KINDS
from shortlist.intake.json_text import NotJson, parse_text
from shortlist.intake.lines import MAKING, BadItem, parse_json
from shortlist.intake.yaml_text import NotYaml, parse_yaml
from shortlist.model.settings import Limits
from shortlist.model.wording import shown

REGISTRY_SUFFIXES = (".yaml", ".yml", ".json")
VERBS = {kind: verb for verb, (kind, _) in MAKING.items()}
"""The command that makes each kind of noun."""


class Order(NamedTuple):
    """A command that has no time yet, and where it comes from."""

    place: str
    verb: str
    content: object


class Orders:
    """Gathers commands; what cannot be read gathers in `problems`.

    >>> orders = Orders()
    >>> orders.add_names("close", ["anna"])
    >>> orders.found
    [Order(place="close 'anna'", verb='close', content='anna')]
    """

    def __init__(self) -> None:
        self.found: list[Order] = []
        self.problems: list[str] = []

    def add_names(self, verb: str, names: Iterable[str]) -> None:
        self.found += [Order(f"{verb} {shown(name)}", verb, name) for name in names]

    def add_retractions(self, source: str, names: Iterable[str]) -> None:
        self.found += [
            Order(f"retract {shown(name)}", "retract", {"source": source, "id": name})
            for name in names
        ]

    def add_lines(self, verb: str, files: Sequence[Path] | None) -> None:
        """One noun a line."""
        for chunk in incoming(files):
            for line in chunk:
                try:
                    content = parse_json(line.content, Limits())
                except BadItem as problem:
                    self.problems.append(f"{line.place}: {problem}")
                else:
                    self.found.append(Order(line.place, verb, content))

    def add_subscriptions(self, files: Sequence[Path] | None) -> None:
        """One subscription a line, or whole registries, whose other nouns are made too."""
        for path in files or [STANDARD_INPUT]:
            if path.suffix in REGISTRY_SUFFIXES:
                self._add_registry(path)
            else:
                self.add_lines("subscribe", [path])

    def _add_registry(self, path: Path) -> None:
        try:
            document = _document(path)
        except (OSError, UnicodeDecodeError, NotJson, NotYaml) as error:
            self.problems.append(f"{path.name}: {error}")
            return
        expected = f"expected a mapping with some of the keys {', '.join(KINDS)}"
        if not isinstance(document, Mapping):
            self.problems.append(f"{path.name}: {expected}, found {shown(document)}")
            return
        for key, nouns in document.items():
            if key not in KINDS:
                self.problems.append(f"{path.name}: {expected}, found {shown(key)}")
            elif not isinstance(nouns, list | None):
                self.problems.append(f"{path.name}: {key}: expected a list, found {shown(nouns)}")
        self.found += _orders(document, path.name)


def _document(path: Path) -> object:
    text = path.read_text(encoding="utf-8-sig")
    return parse_text(text, distinct=True) if path.suffix == ".json" else parse_yaml(text)


def _orders(registry: Mapping[Any, Any], name: str) -> Iterator[Order]:
    """Subscriptions that name a shortlist come behind those that may own it."""
    for key, kind in KINDS.items():
        nouns = registry.get(key)
        for noun in sorted(nouns if isinstance(nouns, list) else [], key=_names_a_shortlist):
            yield Order(name, VERBS[kind], noun)


def _names_a_shortlist(noun: object) -> bool:
    return isinstance(noun, Mapping) and noun.get("shortlist") is not None
