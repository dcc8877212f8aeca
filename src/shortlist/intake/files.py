"""Registries in files: one YAML or JSON file, or a folder; and as documents already in memory."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from shortlist.intake.builder import KINDS, RegistryBuilder
from shortlist.intake.json_text import NotJson, parse_bytes, parse_text
from shortlist.intake.tables import NotATable, read_rows, row_document
from shortlist.intake.yaml_text import NotYaml, parse_yaml
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Attribute

__all__ = ["RegistryBuilder", "read_registry", "registry_from_documents", "row_document"]

VOCABULARIES = ("vocabulary.yaml", "vocabulary.yml", "vocabulary.json")
LISTS = tuple(f"{kind}{suffix}" for kind in KINDS for suffix in (".jsonl", ".parquet"))


class Unreadable(ValueError):
    """Why a file holds no value."""


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
        builder.complain(str(place), _reason(error))
    except Unreadable as error:
        builder.complain(place.name, str(error))
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


def _read_folder(folder: Path, builder: RegistryBuilder) -> None:
    found = _visible(folder)
    known = [name for name in (*VOCABULARIES, *LISTS) if name in found]
    for name in sorted(found.keys() - set(known)):
        builder.complain(
            name, f"is not part of a registry; expected {VOCABULARIES[0]} or {_lists()}"
        )
    if not known:
        expected = f"expected {VOCABULARIES[0]}, {_lists()} in this folder, found none of them"
        builder.complain(str(folder), expected)
    declared = [name for name in known if name in VOCABULARIES]
    if len(declared) > 1:
        builder.complain(declared[1], f"expected one vocabulary, found {declared[0]} too")
    for name in declared[:1]:
        _read_vocabulary(found[name], builder)
    for name in known:
        if name in LISTS:
            _read_list(found[name], builder)


def _lists() -> str:
    return f"{', '.join(KINDS)} as .jsonl or .parquet"


def _visible(folder: Path) -> dict[str, Path]:
    """The files of a folder; those that Spark and editors leave for themselves are passed over."""
    paths = sorted(folder.iterdir())
    return {path.name: path for path in paths if not path.name.startswith((".", "_"))}


def _read_vocabulary(file: Path, builder: RegistryBuilder) -> None:
    try:
        builder.declare(_unwrapped(_load(file)), file.name)
    except (OSError, Unreadable) as error:
        builder.complain(file.name, _reason(error), unread="vocabulary")


def _unwrapped(document: object) -> object:
    """A vocabulary may stand under the key that it has in a whole registry."""
    if not isinstance(document, Mapping) or document.keys() != {"vocabulary"}:
        return document
    inner = document["vocabulary"]
    settings = {field.name for field in fields(Attribute)}
    declares_one = isinstance(inner, Mapping) and inner and inner.keys() <= settings
    return document if declares_one else inner


def _read_list(file: Path, builder: RegistryBuilder) -> None:
    kind = file.stem
    try:
        if file.suffix == ".parquet":
            builder.extend(kind, read_rows(file), file.name)
        elif file.is_dir():
            for part in _visible(file).values():
                _read_lines(kind, part, f"{file.name}/{part.name}", builder)
        else:
            _read_lines(kind, file, file.name, builder)
    except (OSError, NotATable) as error:
        builder.complain(file.name, _reason(error), unread=kind)


def _read_lines(kind: str, file: Path, label: str, builder: RegistryBuilder) -> None:
    for number, line in _lines(file):
        place = f"{label}:{number}"
        try:
            document = parse_bytes(line, distinct=True)
        except NotJson as error:
            builder.complain(place, f"not JSON: {error}", unread=kind)
        else:
            builder.add(kind, document, place)


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield number, line


def _load(file: Path) -> object:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"not text: byte {error.start + 1} is not UTF-8") from None
    if not text.strip():
        return None
    if file.suffix == ".json":
        try:
            return parse_text(text, distinct=True)
        except NotJson as error:
            raise Unreadable(f"not JSON: {error}") from None
    try:
        return parse_yaml(text)
    except NotYaml as error:
        raise Unreadable(f"not YAML: {error}") from None


def _reason(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)
