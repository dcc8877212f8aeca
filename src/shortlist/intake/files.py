"""Registries in files (one YAML or JSON file, or a folder) and as documents in memory."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from shortlist.intake.documents import UNREADABLE, Documents, Kind, labelled
from shortlist.intake.json_text import NotJson, parse_registry
from shortlist.intake.yaml_text import NotYaml, parse_yaml
from shortlist.model.collecting import uncollected
from shortlist.model.problem import InvalidRegistry, Problem
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Attribute, Vocabulary
from shortlist.model.wording import MOST_HINTS, alike, key_text, shown

KINDS: dict[str, Kind] = {
    "shortlists": "shortlist",
    "subscriptions": "subscription",
    "advertisements": "advertisement",
}
"""The lists of a registry, and what each holds."""

KEYS = ", ".join(("vocabulary", *KINDS))
# Problems of a registry that are shown; a program that writes a million entries may make the same
# mistake in each of them.
MOST_PROBLEMS = 1_000


class Entry(NamedTuple):
    """What is known of a document, though it may be broken: enough to tell who names whom.

    It has a label where it has no id to make one of.
    """

    kind: Kind
    file: str
    id: str | None
    label: str | None
    shortlist: str | None
    noun: Any

    def problem(self, field: str, message: str) -> Problem:
        label = self.label or labelled(self.kind, {"id": self.id})
        return Problem(file=self.file, id=label, field=field, message=message)


class RegistryBuilder:
    """Takes whole registries, vocabularies and lists of entries; `registry` is the sum of them.

    >>> builder = RegistryBuilder()
    >>> builder.extend("subscriptions", [{"id": "s1", "shortlist": "anna"}], "a table")
    >>> builder.registry()
    Traceback (most recent call last):
    shortlist.model.problem.InvalidRegistry: a table: subscription 's1': shortlist: expected the \
id of a shortlist, found 'anna'
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._documents = Documents(limits=limits)
        self._entries: dict[str, list[Entry]] = {kind: [] for kind in KINDS}
        self._problems: list[Problem] = []
        self._unread: set[str] = set()

    def complain(self, file: str, message: str, unread: str | None = None) -> None:
        """Notes a problem; `unread` names the part of the registry that nobody can know now."""
        self._problems.append(Problem(file=file, message=message))
        if unread == "vocabulary":
            self._documents.vocabulary = UNREADABLE
        elif unread is not None:
            self._unread.add(unread)

    def take(self, document: object, file: str) -> None:
        """A whole registry document."""
        if not isinstance(document, Mapping):
            found = "nothing" if document is None else shown(document)
            self.complain(file, f"expected a mapping with the keys {KEYS}, found {found}")
            return
        for key in document:
            if key != "vocabulary" and key not in KINDS:
                name = key_text(key)
                self.complain(file, f"{name}: is not a key of a registry; expected one of {KEYS}")
        self.declare(document.get("vocabulary"), file)
        for kind in KINDS:
            entries = document.get(kind)
            if entries is not None and not isinstance(entries, list | tuple):
                self.complain(file, f"{kind}: expected a list, found {shown(entries)}", kind)
            else:
                self.extend(kind, entries or (), file)

    def declare(self, vocabulary: object, file: str) -> None:
        """The vocabulary, before anything that uses it."""
        self._documents.declare(vocabulary)
        self._settle(file)

    def extend(self, kind: str, entries: Iterable[object], file: str) -> None:
        """More entries of one of the lists."""
        for number, document in enumerate(entries, start=1):
            self.add(kind, document, file, number)

    def add(self, kind: str, document: object, file: str, number: int | None = None) -> None:
        """One more entry; its number in the list names it where its id does not."""
        noun = self._documents.read(KINDS[kind], document, number)
        known = document if isinstance(document, Mapping) else {}
        name, shortlist = text_or_none(known.get("id")), text_or_none(known.get("shortlist"))
        label = None
        if name is None:
            self._unread.add(kind)
            label = labelled(KINDS[kind], document, number)
        self._entries[kind].append(Entry(KINDS[kind], file, name, label, shortlist, noun))
        self._settle(file)

    @property
    def vocabulary(self) -> Vocabulary:
        """What entries are read under."""
        return self._documents.vocabulary

    @property
    def has_problems(self) -> bool:
        """So far, and with single entries."""
        return bool(self._problems)

    def registry(self) -> Registry:
        """What was gathered, if all of it is good."""
        every = chain(self._problems, self._conflicts())
        problems = [*islice(every, MOST_PROBLEMS)]
        if problems:
            rest = sum(1 for _ in every)
            if rest:
                problems.append(Problem(message=f"{rest:,} more problems"))
            raise InvalidRegistry(problems)
        nouns = {
            kind: tuple(entry.noun for entry in entries) for kind, entries in self._entries.items()
        }
        return Registry(vocabulary=self._documents.vocabulary, **nouns)

    def _settle(self, file: str) -> None:
        if self._documents.problems:
            self._problems += [problem.within(file=file) for problem in self._documents.problems]
            self._documents.problems.clear()

    def _conflicts(self) -> Iterator[Problem]:
        for entries in self._entries.values():
            yield from repeated(entries)
        subscriptions = self._entries["subscriptions"]
        owners = {entry.id for entry in subscriptions if entry.shortlist is None}
        yield from self._home_conflicts(subscriptions, owners)

    def _home_conflicts(
        self, subscriptions: Iterable[Entry], owners: set[str | None]
    ) -> Iterator[Problem]:
        """What is wrong with the shortlists of subscriptions, given who has one of its own."""
        shortlists = {entry.id for entry in self._entries["shortlists"]}
        known = {name for name in shortlists | owners if name is not None}
        hints = MOST_HINTS
        for entry in subscriptions:
            if entry.shortlist is None:
                if entry.id is not None and entry.id in shortlists:
                    yield entry.problem("id", _clash(entry.id))
            elif entry.shortlist not in known and "shortlists" not in self._unread:
                comparable = known if hints > 0 else ()
                yield entry.problem("shortlist", _unknown(entry.shortlist, comparable))
                hints -= 1

    def is_read_elsewhere(self, kind: str, file: Path) -> bool:
        """Whether somebody else sees to a list."""
        return False


def text_or_none(value: object) -> str | None:
    """What a field can be known by."""
    return value if isinstance(value, str) and value else None


def repeated(entries: Iterable[Entry]) -> Iterator[Problem]:
    """Entries with the id of an earlier one."""
    first: dict[str, Entry] = {}
    for entry in entries:
        if entry.id is None:
            continue
        earlier = first.setdefault(entry.id, entry)
        if earlier is not entry:
            place = "" if earlier.file == entry.file else f" in {earlier.file}"
            message = f"expected an id of its own, found that of a {entry.kind}{place}"
            yield entry.problem("id", message)


def _clash(name: str) -> str:
    return (
        "expected an id that no shortlist has, since this names no shortlist and so gets one "
        f"with its own id, found that of the shortlist {shown(name)}"
    )


def _unknown(name: str, known: Collection[str]) -> str:
    meant = alike(name, known, cutoff=0.6)
    hint = f"; did you mean {shown(meant)}?" if meant else ""
    return f"expected the id of a shortlist, found {shown(name)}{hint}"


VOCABULARIES = ("vocabulary.yaml", "vocabulary.yml", "vocabulary.json")
LISTS = tuple(f"{kind}{suffix}" for kind in KINDS for suffix in (".jsonl", ".parquet"))


class Unreadable(ValueError):
    """Why a file holds no value."""


@uncollected()
def read_registry(path: str | Path, limits: Limits | None = None) -> Registry:
    """A registry that can run; every problem at once in `InvalidRegistry` if there is any."""
    builder = RegistryBuilder(limits)
    read_into(builder, Path(path))
    return builder.registry()


@uncollected()
def registry_from_documents(document: Mapping[str, Any], limits: Limits | None = None) -> Registry:
    """A registry from the values that a file would hold.

    >>> registry = registry_from_documents({"subscriptions": [{"id": "s", "where": "rent < 900"}]})
    >>> registry.subscriptions[0].where
    'rent < 900'
    """
    builder = RegistryBuilder(limits)
    builder.take(document, "registry")
    return builder.registry()


@uncollected()
def registry_read_again(document: Mapping[str, Any]) -> Registry:
    """The registry that was read before from such a document: nothing is checked once more.

    >>> registry = registry_read_again({"subscriptions": [{"id": "s", "where": "rent < 900"}]})
    >>> registry.subscriptions[0].where
    'rent < 900'
    """
    documents = Documents()
    documents.declare(document.get("vocabulary"))
    nouns = {
        name: tuple(documents.read_again(kind, each) for each in document.get(name) or ())
        for name, kind in KINDS.items()
    }
    return Registry(vocabulary=documents.vocabulary, **nouns)


def read_into(builder: RegistryBuilder, place: Path) -> None:
    """A file or a folder, all of it."""
    try:
        if place.is_dir():
            _read_folder(place, builder)
        else:
            builder.take(load(place), place.name)
    except OSError as error:
        builder.complain(str(place), _reason(error))
    except Unreadable as error:
        builder.complain(place.name, str(error))


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
        builder.declare(_unwrapped(load(file)), file.name)
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
        if builder.is_read_elsewhere(kind, file):
            return
        if file.suffix == ".parquet":
            _read_table(kind, file, builder)
        else:
            for part, label in files_of_lines(file):
                _read_lines(kind, part, label, builder)
    except OSError as error:
        builder.complain(file.name, _reason(error), unread=kind)


def files_of_lines(file: Path) -> Iterator[tuple[Path, str]]:
    """A file of lines, or those of a folder, and what each is called."""
    if file.is_dir():
        yield from ((part, f"{file.name}/{part.name}") for part in _visible(file).values())
    else:
        yield file, file.name


def _read_table(kind: str, file: Path, builder: RegistryBuilder) -> None:
    from shortlist.intake.tables import NotATable, read_rows  # few registries are tables

    try:
        builder.extend(kind, read_rows(file), file.name)
    except NotATable as error:
        builder.complain(file.name, _reason(error), unread=kind)


def _read_lines(kind: str, file: Path, label: str, builder: RegistryBuilder) -> None:
    with file.open("rb") as lines:
        for number, read in documents_of(lines):
            place = f"{label}:{number}"
            if isinstance(read, NotJson):
                builder.complain(place, not_json(read), unread=kind)
            else:
                builder.add(kind, read, place)


def documents_of(lines: Iterable[bytes], first: int = 1) -> Iterator[tuple[int, object]]:
    """What lines hold, or why they hold nothing, each with its number; blank ones are passed
    over."""
    for number, line in enumerate(lines, first):
        if line.strip():
            try:
                yield number, parse_registry(line)
            except NotJson as error:
                yield number, error


def not_json(error: NotJson) -> str:
    return f"not JSON: {error}"


def load(file: Path) -> object:
    """The value that a YAML or JSON file holds; None if it is blank."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"not text: byte {error.start + 1} is not UTF-8") from None
    if not text.strip():
        return None
    if file.suffix == ".json":
        try:
            return parse_registry(text)
        except NotJson as error:
            raise Unreadable(f"not JSON: {error}") from None
    try:
        return parse_yaml(text)
    except NotYaml as error:
        raise Unreadable(f"not YAML: {error}") from None


def _reason(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)
