"""Gathers a registry from its parts, with every problem on the way."""

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

from shortlist.intake.documents import UNREADABLE, Documents, Kind, labelled
from shortlist.model.problem import InvalidRegistry, Problem
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits
from shortlist.model.wording import shown

KINDS: dict[str, Kind] = {
    "shortlists": "shortlist",
    "subscriptions": "subscription",
    "advertisements": "advertisement",
}
"""The lists of a registry, and what each holds."""

KEYS = ", ".join(("vocabulary", *KINDS))
MOST_COMPARED = 1_000
"""Among more names than this none is looked for that was perhaps meant."""


class _Entry(NamedTuple):
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
        self._entries: dict[str, list[_Entry]] = {kind: [] for kind in KINDS}
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
                self.complain(file, f"{key}: is not a key of a registry; expected one of {KEYS}")
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
        name, shortlist = _text(known.get("id")), _text(known.get("shortlist"))
        label = None
        if name is None:
            self._unread.add(kind)
            label = labelled(KINDS[kind], document, number)
        self._entries[kind].append(_Entry(KINDS[kind], file, name, label, shortlist, noun))
        self._settle(file)

    def registry(self) -> Registry:
        """What was gathered, if all of it is good."""
        problems = [*self._problems, *self._conflicts()]
        if problems:
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
            yield from _repeated(entries)
        shortlists = {entry.id for entry in self._entries["shortlists"]}
        subscriptions = self._entries["subscriptions"]
        owners = {entry.id for entry in subscriptions if entry.shortlist is None}
        known = {name for name in shortlists | owners if name is not None}
        for entry in subscriptions:
            if entry.shortlist is None:
                if entry.id is not None and entry.id in shortlists:
                    yield entry.problem("id", _clash(entry.id))
            elif entry.shortlist not in known and "shortlists" not in self._unread:
                yield entry.problem("shortlist", _unknown(entry.shortlist, known))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _repeated(entries: Iterable[_Entry]) -> Iterator[Problem]:
    first: dict[str, _Entry] = {}
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


def _unknown(name: str, known: set[str]) -> str:
    alike = get_close_matches(name, sorted(known), n=1) if len(known) <= MOST_COMPARED else []
    hint = f"; did you mean {shown(alike[0])}?" if alike else ""
    return f"expected the id of a shortlist, found {shown(name)}{hint}"
