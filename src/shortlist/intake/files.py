"""Registries in files: one YAML or JSON file, or a folder; and as documents already in memory."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from pyarrow import parquet

from shortlist.intake.documents import Documents
from shortlist.intake.roster import Roster, registry_commands
from shortlist.model.command import Advertise, Command, Open, Subscribe
from shortlist.model.problem import InvalidRegistry, Problem
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits

KINDS = ("shortlists", "subscriptions", "advertisements")
SUFFIXES = (".yaml", ".yml", ".json")


def read_registry(path: str | Path, limits: Limits | None = None) -> Registry:
    """A registry that can run; every problem at once in `InvalidRegistry` if there is any."""
    place = Path(path)
    builder = RegistryBuilder(limits)
    try:
        if place.is_dir():
            _read_folder(place, builder)
        else:
            builder.take(_load(place), place.name)
    except OSError as error:
        builder.complain(place.name, error.strerror or str(error))
    return builder.registry()


def registry_from_documents(document: Mapping[str, Any], limits: Limits | None = None) -> Registry:
    """A registry from the values that a file would hold.

    >>> registry = registry_from_documents({"subscriptions": [{"id": "s", "where": "rent < 900"}]})
    >>> registry.subscriptions[0].where
    'rent < 900'
    """
    builder = RegistryBuilder(limits)
    builder.take(document, "registry")
    return builder.registry()


class RegistryBuilder:
    """Gathers a registry from one or more sources, with every problem on the way."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._documents = Documents(limits=limits)
        self._nouns: dict[str, list[tuple[str, Any]]] = {kind: [] for kind in KINDS}
        self._problems: list[Problem] = []

    def complain(self, file: str, message: str) -> None:
        self._problems.append(Problem(file=file, message=message))

    def take(self, document: object, file: str) -> None:
        """A whole registry document."""
        if document is None:
            return
        if not isinstance(document, Mapping):
            self.complain(file, f"expected a mapping with the keys vocabulary, {', '.join(KINDS)}")
            return
        for key in document:
            if key not in (*KINDS, "vocabulary"):
                self.complain(
                    file,
                    f"{key}: is not a key of a registry; expected vocabulary, {', '.join(KINDS)}",
                )
        self.declare(document.get("vocabulary"), file)
        for kind in KINDS:
            entries = document.get(kind)
            if entries is not None and not isinstance(entries, list | tuple):
                self.complain(file, f"{kind}: expected a list")
            else:
                self.extend(kind, entries or (), file)

    def declare(self, vocabulary: object, file: str) -> None:
        self._documents.declare(vocabulary)
        self._settle(file)

    def extend(self, kind: str, entries: Iterable[object], file: str) -> None:
        """More entries of a kind."""
        read = {
            "shortlists": self._documents.shortlist,
            "subscriptions": self._documents.subscription,
            "advertisements": self._documents.advertisement,
        }[kind]
        for entry in entries:
            noun = read(entry)
            if noun is not None:
                self._nouns[kind].append((file, noun))
        self._settle(file)

    def registry(self) -> Registry:
        """What was gathered, if all of it is good."""
        nouns = {kind: tuple(noun for _, noun in entries) for kind, entries in self._nouns.items()}
        registry = Registry(vocabulary=self._documents.vocabulary, **nouns)
        files = [file for kind in KINDS for file, _ in self._nouns[kind]]
        self._problems += _conflicts(registry, files, checked=not self._problems)
        if self._problems:
            raise InvalidRegistry(self._problems)
        return registry

    def _settle(self, file: str) -> None:
        self._problems += [problem.within(file=file) for problem in self._documents.problems]
        self._documents.problems.clear()


def _conflicts(registry: Registry, files: list[str], checked: bool) -> Iterator[Problem]:
    """Ids used twice, shortlists that do not exist."""
    roster = Roster()
    for command, file in zip(registry_commands(registry), files, strict=True):
        refusal = roster.refusal(command)
        if refusal is None:
            roster.apply(command)
        elif checked or "already" in refusal:
            # A shortlist that is itself broken is not unknown: its own problem is listed.
            yield Problem(file=file, id=_name(command), message=refusal)


def _name(command: Command) -> str:
    match command:
        case Open(shortlist=shortlist):
            return f"shortlist {shortlist.id!r}"
        case Subscribe(subscription=subscription):
            return f"subscription {subscription.id!r}"
        case Advertise(advertisement=advertisement):
            return f"advertisement {advertisement.id!r}"
    return type(command).__name__.lower()


def _read_folder(folder: Path, builder: RegistryBuilder) -> None:
    known = {f"vocabulary{suffix}" for suffix in SUFFIXES}
    known |= {f"{kind}{suffix}" for kind in KINDS for suffix in (".jsonl", ".parquet")}
    found = sorted(
        entry.name for entry in folder.iterdir() if not entry.name.startswith((".", "_"))
    )
    for name in found:
        if name not in known:
            builder.complain(name, "is not a file of a registry folder")
    if not known.intersection(found):
        builder.complain(folder.name, f"expected {', '.join(sorted(known))} in this folder")
    for name in found:
        if name in known and name.startswith("vocabulary"):
            builder.declare(_load(folder / name), name)
    for kind in KINDS:
        for name in (f"{kind}.jsonl", f"{kind}.parquet"):
            if name in found:
                builder.extend(kind, _entries(folder / name, builder), name)


def _load(file: Path) -> object:
    text = file.read_text(encoding="utf-8-sig")
    try:
        if file.suffix == ".json":
            return json.loads(text, object_pairs_hook=_distinct)
        return yaml.load(text, Loader=_DistinctLoader)
    except (ValueError, yaml.YAMLError) as error:
        message = " ".join(str(error).split())
        raise InvalidRegistry([Problem(file=file.name, message=message)]) from None


def _entries(file: Path, builder: RegistryBuilder) -> Iterator[object]:
    if file.suffix == ".parquet":
        yield from (row_document(row) for row in parquet.read_table(file).to_pylist())
        return
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    yield json.loads(line, object_pairs_hook=_distinct)
                except ValueError as error:
                    builder.complain(f"{file.name}:{number}", f"not JSON: {error}")


def row_document(row: Mapping[str, Any]) -> dict[str, Any]:
    """A table's row as a document: null is absent, and an object may be written as JSON text.

    >>> row_document({"id": "s", "where": None, "policy": '{"kind": "window", "k": 1, "window": null}'})
    {'id': 's', 'policy': {'kind': 'window', 'k': 1, 'window': None}}
    """
    return {name: _cell(name, value) for name, value in row.items() if value is not None}


JSON_CELLS = ("policy", "norm", "at_least", "profile", "prefers")


def _cell(name: str, value: Any) -> Any:
    if name in JSON_CELLS and isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        return json.loads(value)
    if name == "profile" and isinstance(value, list):
        return dict(value)
    if isinstance(value, Mapping):
        kept = {key: _cell(key, inner) for key, inner in value.items() if inner is not None}
        # A column cannot tell a null window (everything) from none; only a window policy has one.
        return {"window": None, **kept} if kept.get("kind") == "window" else kept
    return value


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {repeated!r} stands twice in one object")
    return document


class _DistinctLoader(yaml.SafeLoader):
    """YAML, in which a key that stands twice is a mistake and times stay text."""


def _construct_distinct(loader: yaml.SafeLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    pairs = loader.construct_pairs(node, deep=True)
    return _distinct(pairs)


_DistinctLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _construct_distinct)
_DistinctLoader.add_constructor("tag:yaml.org,2002:timestamp", yaml.SafeLoader.construct_yaml_str)
