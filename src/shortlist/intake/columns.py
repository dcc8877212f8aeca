"""A registry as columns: who is who is looked up there, and nouns are made when they are asked for.

What commands change is kept beside, so that a start makes no object for any subscription.
"""

import json
from collections.abc import (
    Callable,
    ItemsView,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
    ValuesView,
)
from itertools import chain
from typing import Any, TypeVar

import numpy as np
import orjson
import pyarrow as pa
from orjson import Fragment

from shortlist.intake.documents import Documents, Kind, brief
from shortlist.intake.json_text import parse_bytes
from shortlist.intake.roster import Roster
from shortlist.intake.written import registry_document
from shortlist.matching.arrays import Ints, Longs
from shortlist.matching.index.names import NameColumn
from shortlist.matching.index.numbering import NOBODY, SavedNumbers
from shortlist.matching.index.storage import Parts
from shortlist.matching.index.texts import Texts
from shortlist.model.policy import Policy
from shortlist.model.registry import Live, Registry
from shortlist.model.remembering import Remembered
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription

V = TypeVar("V")


class Ids:
    """Ids that were numbered, and nobody changes; one who was found is soon found again."""

    def __init__(self, saved: SavedNumbers) -> None:
        self.names = saved.names
        self.find = Remembered(saved.find)


class ColumnMapping(MutableMapping[str, V]):
    """Ids that were numbered, each with a value that is made of its number; and what changed since.

    It keeps the order of a `dict`.

    >>> known = ColumnMapping(Ids(SavedNumbers.of(["a", "b"])), lambda number: 10 * number)
    >>> known["c"], known["a"] = 7, 5
    >>> del known["b"]
    >>> known["b"] = 8
    >>> dict(known), len(known), "d" in known
    ({'a': 5, 'c': 7, 'b': 8}, 3, False)
    """

    def __init__(self, ids: "Ids", value: Callable[[int], V], texts: Texts | None = None) -> None:
        self._ids = ids
        self._value = value
        self._texts = texts
        """What values are made of, as JSON; empty where they follow from others."""
        self._gone: set[str] = set()
        """Of those that were numbered, even if they came back later."""
        self._changed: dict[str, V] = {}
        self._later: dict[str, V] = {}

    def __len__(self) -> int:
        return len(self._ids.names) - len(self._gone) + len(self._later)

    def __iter__(self) -> Iterator[str]:
        for name in self._ids.names:
            if name not in self._gone:
                yield name
        yield from self._later

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._later or self._number(name) != NOBODY)

    def __getitem__(self, name: str) -> V:
        if name in self._later:
            return self._later[name]
        if name in self._changed:
            return self._changed[name]
        number = self._number(name)
        if number == NOBODY:
            raise KeyError(name)
        return self._value(number)

    def __setitem__(self, name: str, value: V) -> None:
        is_later = name in self._later or self._number(name) == NOBODY
        (self._later if is_later else self._changed)[name] = value

    def __delitem__(self, name: str) -> None:
        if name in self._later:
            del self._later[name]
        elif self._number(name) == NOBODY:
            raise KeyError(name)
        else:
            self._changed.pop(name, None)
            self._gone.add(name)

    def items(self) -> ItemsView[str, V]:
        return _Items(self)

    def values(self) -> ValuesView[V]:
        return _Values(self)

    def texts(self) -> Iterator[tuple[str, str | None]]:
        """By id, the text of a value that is as it was; None where it is another."""
        for name, text in zip(self._ids.names, self._texts or (), strict=True):
            if name not in self._gone:
                yield name, None if name in self._changed else text
        for name in self._later:
            yield name, None

    def _number(self, name: str) -> int:
        return NOBODY if name in self._gone else self._ids.find(name)


class _Items(ItemsView[str, V]):
    _mapping: ColumnMapping[V]

    def __iter__(self) -> Iterator[tuple[str, V]]:
        """In order; nobody is looked up."""
        known = self._mapping
        for number, name in enumerate(known._ids.names):
            if name not in known._gone:
                is_changed = name in known._changed
                yield name, known._changed[name] if is_changed else known._value(number)
        yield from known._later.items()


class _Values(ValuesView[V]):
    _mapping: ColumnMapping[V]

    def __iter__(self) -> Iterator[V]:
        return (value for _, value in self._mapping.items())


class RegistryColumns:
    """The shortlists and subscriptions of a registry, in the order of the commands that make it.

    Shortlists that subscriptions own are among the others, without a document.

    >>> from shortlist.intake.files import registry_from_documents
    >>> flats = [{"id": "s1", "where": "rent < 900"}, {"id": "s2", "shortlist": "s1"}]
    >>> roster = Roster.of(registry_from_documents({"subscriptions": flats}))
    >>> live = RegistryColumns(saved_columns(roster)).live()
    >>> live.subscriptions["s1"].where, [*live.shortlists], [*live.members["s1"]]
    ('rent < 900', ['s1'], ['s1', 's2'])
    """

    def __init__(self, saved: Parts) -> None:
        self._saved = saved
        self._documents = Documents()
        self._documents.declare(json.loads(saved["vocabulary"]))
        self._subscriptions, self._shortlists = (
            Ids(saved["subscriptions"]),
            Ids(saved["shortlists"]),
        )
        self._subscription = Remembered(self._read_subscription)
        self._shortlist = Remembered(self._read_shortlist)

    @property
    def rest(self) -> Registry:
        """All but shortlists and subscriptions."""
        advertisements = json.loads(self._saved["advertisements"])
        made = (self._documents.read_again("advertisement", each) for each in advertisements)
        return Registry(vocabulary=self._documents.vocabulary, advertisements=tuple(made))

    def live(self) -> Live:
        """For whoever follows commands from here on."""
        return Live(
            ColumnMapping(self._shortlists, self._shortlist, self._saved["opened"]),
            ColumnMapping(self._subscriptions, self._subscription, self._saved["documents"]),
            ColumnMapping(self._shortlists, self._members),
        )

    @property
    def subscribers(self) -> Texts:
        """Whose the shortlists are, by number."""
        subscribers: Texts = self._saved["subscribers"]
        return subscribers

    def policies(self) -> Iterator[tuple[Policy, Longs]]:
        """The different policies, and the numbers of the shortlists that have each."""
        policies: Ints = self._saved["policies"]
        order = np.argsort(policies, kind="stable")
        ends = np.cumsum(np.bincount(policies))
        for places in np.split(order, ends[:-1]) if order.size else ():
            yield self._shortlist(int(places[0])).policy, self._saved["numbers"][places]

    def _members(self, shortlist: int) -> dict[str, None]:
        starts, members = self._saved["starts"], self._saved["members"]
        numbers = members[starts[shortlist] : starts[shortlist + 1]]
        return {self._subscriptions.names[number]: None for number in numbers.tolist()}

    def _read_subscription(self, number: int) -> Subscription:
        return self._read("subscription", self._saved["documents"][number])  # type: ignore[no-any-return]

    def _read_shortlist(self, number: int) -> Shortlist:
        text = self._saved["opened"][number]
        if text:
            return self._read("shortlist", text)  # type: ignore[no-any-return]
        owner = self._subscription(self._subscriptions.find(self._shortlists.names[number]))
        own = owner.own_shortlist()
        assert own is not None
        return own

    def _read(self, kind: Kind, text: str) -> Any:
        document: Any = parse_bytes(text.encode())
        return self._documents.read_again(kind, document)


def saved_columns(
    roster: Roster,
    shortlists: SavedNumbers | None = None,
    subscriptions: SavedNumbers | None = None,
) -> Parts:
    """What `RegistryColumns` takes, of what is live; somebody may have numbered that."""
    names = [*roster.shortlists]
    # numbers that are free have room, too: who subscribes next may get any of them
    subscribers = [""] * (len(names) if shortlists is None else len(shortlists.names))
    shortlists, numbers = _placed(names, shortlists)
    subscriptions, _ = _placed([*roster.subscriptions], subscriptions)
    nouns = [*roster.shortlists.values()]
    different: dict[Policy, int] = {}
    policies = [different.setdefault(each.policy, len(different)) for each in nouns]
    for number, each in zip(numbers.tolist(), nouns, strict=True):
        subscribers[number] = each.subscriber
    members = [roster.members(name) for name in names]
    rest = registry_document(_without_nouns(roster))
    return {
        "vocabulary": as_json(rest["vocabulary"]),
        "advertisements": as_json(rest["advertisements"]),
        "subscriptions": subscriptions,
        "documents": Texts.plain(_texts(roster.subscriptions)),
        "shortlists": shortlists,
        "opened": Texts.plain(_opened_texts(roster)),
        "numbers": numbers,
        "subscribers": Texts.plain(subscribers),
        "policies": np.array(policies, np.int32),
        "members": NameColumn(subscriptions.names).numbers(pa.array(chain(*members), pa.string())),
        "starts": np.cumsum([0, *map(len, members)]),
    }


def _placed(names: Sequence[str], numbered: SavedNumbers | None) -> tuple[SavedNumbers, Ints]:
    """Ids with their places among all of them, and the numbers that they have."""
    places = np.arange(len(names))
    if numbered is None:
        return SavedNumbers.of(names), places
    numbers = NameColumn(numbered.names).numbers(pa.array(names, pa.string()))
    is_same = len(numbered.names) == len(names) and np.array_equal(numbers, places)
    return numbered if is_same else SavedNumbers.of(names), numbers


def as_json(document: Any) -> str:
    """A document in JSON, as short as it can be."""
    try:
        return orjson.dumps(document).decode()
    except TypeError:  # a whole number of more than 64 bits
        return json.dumps(document, ensure_ascii=False)


def registry_text(roster: Roster) -> bytes:
    """What is live as JSON, as `registry_document` has it; what nobody changed stays the text that
    it is.

    >>> from shortlist.intake.files import registry_from_documents
    >>> flats = registry_from_documents({"subscriptions": [{"id": "s", "where": "rent < 900"}]})
    >>> live = RegistryColumns(saved_columns(Roster.of(flats))).live()
    >>> registry_text(Roster(live=live)).decode()[33:]
    '"subscriptions":[{"id":"s","where":"rent < 900"}],"advertisements":[]}'
    """

    rest = registry_document(_without_nouns(roster))
    document = {name: Fragment(as_json(part)) for name, part in rest.items()}
    opened = [*map(Fragment, filter(None, _opened_texts(roster)))]
    made = [*map(Fragment, _texts(roster.subscriptions))]
    return orjson.dumps({**document, "shortlists": opened, "subscriptions": made})


def _without_nouns(roster: Roster) -> Registry:
    advertisements = tuple(roster.advertisements.values())
    return Registry(vocabulary=roster.vocabulary.now(), advertisements=advertisements)


def _opened_texts(roster: Roster) -> Iterator[str]:
    """Of all shortlists, empty for those that subscriptions own."""
    return _texts(roster.shortlists, roster.is_owned)


def live_documents(nouns: Mapping[str, Subscription]) -> Iterator[dict[str, Any]]:
    """What files could say of live subscriptions, without making these."""
    return map(json.loads, _texts(nouns))


def _texts(
    nouns: Mapping[str, Subscription | Shortlist],
    is_empty: Callable[[str], bool] = lambda _: False,
) -> Iterator[str]:
    """JSON of all of them; those that nobody changed have theirs."""
    known = nouns.texts() if isinstance(nouns, ColumnMapping) else ((name, None) for name in nouns)
    for name, text in known:
        if text is not None:
            yield text
        else:
            yield "" if is_empty(name) else as_json(brief(nouns[name]))
