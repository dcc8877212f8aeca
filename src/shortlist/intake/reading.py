"""Lines to items as columns: each is read once, and only what is wanted of it."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from shortlist.intake.attributes import Data, attribute_columns, data_column
from shortlist.intake.json_text import LONG_NUMBER
from shortlist.intake.lines import BadItem, ItemReader, check_size, parse_json
from shortlist.intake.tables import row_publication
from shortlist.intake.written import item_document
from shortlist.model.command import Command, Heartbeat, Item
from shortlist.model.items import (
    ATTRIBUTES,
    BLANK,
    COMMAND,
    CONTEXT_COLUMNS,
    HEARTBEAT,
    PUBLICATION,
    REJECT,
    Items,
    Wanted,
)
from shortlist.model.joined import Joined
from shortlist.model.paths import format_path
from shortlist.model.publication import Publication
from shortlist.model.settings import Limits
from shortlist.model.times import parse_times
from shortlist.model.vocabulary import Vocabulary
from shortlist.model.wording import one_line

Document = dict[str, Any]
NO_DATA: Data = {}
NESTED = {dict, list}
FURTHER = {"expirytime", "audience", "replaces"}
"""What some publications say of themselves, beside what most do."""
LEAST = {"id", "source", "time", "data"}
USUAL = LEAST | {"type", "specversion"}
USUAL_VERSIONS = {None, "1.0"}
FLOAT_LIKE = "e+"
"""Stands in all large floats as JSON has them, and so where a large integer was taken for one."""

EVERYBODY = 2**63 - 1
"""An audience of more is no larger."""
MANY = 64
"""Lines from which on simple ones are read in bulk."""


class LineReader:
    """Reads lines under one vocabulary: publications and, unless told otherwise, commands.

    What most lines look like is read in bulk; everything else, and all that is wrong, goes through
    `ItemReader`, which knows the rules and the words for what breaks them.

    >>> read = LineReader(Vocabulary(), Limits(), Wanted(frozenset([("rent",)])))
    >>> line = b'{"id": "p", "source": "s", "time": "1970-01-01T00:00:01Z", "data": {"rent": 9}}'
    >>> items = read.lines([4, 5], [line, b'{"id": "p"'])
    >>> items.kinds.tolist(), items.values("reason")
    ([0, 3], [None, "not JSON: column 11: Expecting ',' delimiter"])
    >>> items.batch.column("attributes").to_pylist()[0]
    {'rent': {'number': 9.0, 'text': None, 'other': None}}
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        limits: Limits,
        wanted: Wanted,
        commands: bool = True,
        tabular: bool = False,
        *,
        by_arrival: bool = False,
    ) -> None:
        """`by_arrival`: items are of the time at which a log took them, whatever they say."""
        self._reader = ItemReader(vocabulary, limits, commands)
        self._by_arrival = by_arrival
        self._limits = limits
        self._wanted = wanted
        self._tabular = tabular
        self._has_usual = not tabular and limits.nesting > 0
        self.commands: dict[int, Command] = {}
        """Those that were read, by position."""

    def lines(
        self,
        positions: Sequence[int | None],
        lines: Sequence[bytes | None],
        appended: Sequence[int | None] | None = None,
    ) -> Items:
        """Lines with their positions; of each there is one item."""
        has_all = None not in positions and (appended is None or None not in appended)
        if len(lines) < MANY or not self._has_usual or self._wanted.data or not has_all:
            return self._one_by_one(positions, lines, appended)
        # imported where many are read: commands that read a few start without numba
        from shortlist.intake.simple_lines import simple_lines

        is_simple, items = simple_lines(
            positions,
            _joined(lines),
            appended,
            self._wanted,
            self._limits,
            by_arrival=self._by_arrival,
        )
        others = np.flatnonzero(~is_simple).tolist()
        if not others:
            return items
        rest = self._one_by_one(
            [positions[at] for at in others],
            [lines[at] for at in others],
            None if appended is None else [appended[at] for at in others],
        )
        places = np.argsort(np.append(np.flatnonzero(is_simple), others))
        return Items.joined([items, rest]).taken(places)

    def _one_by_one(
        self,
        positions: Sequence[int | None],
        lines: Sequence[bytes | None],
        appended: Sequence[int | None] | None,
    ) -> Items:
        """The same, with an object for each."""
        usual: list[tuple[int, Document]] = []
        others: dict[int, _Read] = {}
        taken = appended if appended is not None else [None] * len(lines)
        for at, (position, line) in enumerate(zip(positions, lines, strict=True)):
            document = None if position is None or line is None else self._usual(line)
            if document is None or (self._by_arrival and taken[at] is None):
                others[at] = self._slowly(position, line, taken[at])
            else:
                usual.append((at, document))
        times = parse_times([document.get("time", "") for _, document in usual])
        if None in times and not self._by_arrival:
            for (at, _), time in zip(usual, times, strict=True):
                if time is None:
                    others[at] = self._slowly(positions[at], lines[at], taken[at])
            usual = [(at, document) for at, document in usual if at not in others]
            times = [time for time in times if time is not None]
        columns = _Columns(len(lines), self._wanted)
        arrivals = [taken[at] for at, _ in usual] if self._by_arrival else times
        columns.put_usual(usual, arrivals, times, positions, lines)
        for at, read in others.items():
            columns.put(at, read)
        return columns.items(appended)

    def _usual(self, line: bytes) -> Document | None:
        """A publication of the form that most have, and within all limits."""
        if not self._has_usual or len(line) > self._limits.payload_bytes:
            return None
        try:
            document: Document = orjson.loads(line)
            name, source = document["id"], document["source"]
            time = document.get("time", "-") if self._by_arrival else document["time"]
            data = document.get("data", NO_DATA)
            if not (type(name) is type(source) is type(time) is str and name and source and time):
                return None
            if type(data) is not dict or max(len(name), len(source)) > self._limits.id_length:
                return None
            if not document.keys() <= LEAST and (
                LONG_NUMBER.search(line) or not _has_usual_context(document)
            ):
                return None
            if not NESTED.isdisjoint(map(type, data.values())):
                check_size(data, self._limits)
        except (ValueError, LookupError, TypeError, AttributeError):
            return None
        return document if len(data) <= self._limits.attributes else None

    def _slowly(self, position: int | None, line: bytes | None, taken: int | None) -> "_Read":
        """One line, by all rules."""
        if line is None:
            return _Read(position, REJECT, line="", reason="line: is missing")
        text = line.decode(errors="replace")
        if position is None:
            return _Read(None, REJECT, line=text, reason="position: is missing")
        if not line.strip():
            return _Read(position, BLANK)
        if self._by_arrival and taken is None:
            return _Read(position, REJECT, line=text, reason="appended: is missing")
        try:
            document = parse_json(line, self._limits)
            if self._tabular:
                document = row_publication(document)
                text = json.dumps(document, ensure_ascii=False)
            item = self._reader.document(document, position, taken if self._by_arrival else None)
        except BadItem as problem:
            return _Read(position, REJECT, line=text, reason=str(problem))
        except Exception as error:  # what no rule foresees concerns this line alone
            reason = one_line(f"cannot be read: {type(error).__name__}: {error}")
            return _Read(position, REJECT, line=text, reason=reason)
        if isinstance(item, Command):
            self.commands[position] = item
        return _Read(position, _kind(item), item=item, line=text)


class _Read(NamedTuple):
    """A line that was read by all rules."""

    position: int | None
    kind: int
    item: Item | None = None
    line: str | None = None
    reason: str | None = None


def _joined(lines: Sequence[bytes | None]) -> Joined:
    """What is missing is no simple line, as an empty one is none."""
    return lines if isinstance(lines, Joined) else Joined.of([line or b"" for line in lines])


def _has_usual_context(document: Document) -> bool:
    """What a publication says of itself is what most say, and right."""
    kind = document.get("type")
    return (
        document.keys().isdisjoint(FURTHER)
        and document.get("specversion") in USUAL_VERSIONS
        and (kind is None or (type(kind) is str and kind != ""))
        # nothing unknown is nested, perhaps deeper than all rules allow
        and not any(type(value) in NESTED for name, value in document.items() if name not in USUAL)
    )


def _kind(item: Item) -> int:
    if isinstance(item, Publication):
        return PUBLICATION
    return HEARTBEAT if isinstance(item, Heartbeat) else COMMAND


class _Columns:
    """Columns of so many items, filled in any order."""

    def __init__(self, size: int, wanted: Wanted) -> None:
        self._wanted = wanted
        self._columns: dict[str, list[Any]] = {
            name: [None] * size
            for name in CONTEXT_COLUMNS.names
            if name not in ("data", "appended")
        }
        self._data: list[Data] = [NO_DATA] * size

    def put_usual(
        self,
        usual: Sequence[tuple[int, Document]],
        times: Sequence[int | None],
        said: Sequence[int | None],
        positions: Sequence[int | None],
        lines: Sequence[bytes | None],
    ) -> None:
        """Publications that have no more than what most have."""
        columns = self._columns
        names = ("position", "kind", "time", "event_time", "source", "id", "type", "line")
        position, kind, time, event_time, source, name, sort, line = map(columns.__getitem__, names)
        for (at, document), when, own in zip(usual, times, said, strict=True):
            position[at], kind[at], time[at], event_time[at] = positions[at], PUBLICATION, when, own
            source[at], name[at] = document["source"], document["id"]
            sort[at], line[at] = document.get("type"), lines[at]
            self._data[at] = document.get("data", NO_DATA)

    def put(self, at: int, read: "_Read") -> None:
        """An item that was read by all rules."""
        columns, item = self._columns, read.item
        columns["position"][at], columns["kind"][at] = read.position, read.kind
        columns["line"][at], columns["reason"][at] = read.line, read.reason
        if item is not None:
            columns["time"][at] = item.time
        if isinstance(item, Publication):
            columns["event_time"][at] = item.said_time
            for name in ("source", "id", "type", "expiry", "replaces"):
                columns[name][at] = getattr(item, name)
            if item.audience is not None:
                columns["audience"][at] = min(item.audience, EVERYBODY)
            self._data[at] = item.data

    def items(self, appended: Sequence[int | None] | None) -> Items:
        columns: dict[str, Any] = {**self._columns, "appended": appended}
        if self._wanted.data:
            is_publication = [kind == PUBLICATION for kind in self._columns["kind"]]
            columns["data"] = self._exact(data_column(self._data, is_publication))
        columns[ATTRIBUTES] = attribute_columns(self._data, self._wanted.paths)
        return Items.of_columns(len(self._data), columns, self._wanted)

    def _exact(self, data: pa.StringArray) -> pa.StringArray:
        """The same with integers of any length, which what reads in bulk takes for floats."""
        if not pc.any(pc.match_substring(data, FLOAT_LIKE)).as_py():
            return data
        texts = data.to_pylist()
        for at, (text, line) in enumerate(zip(texts, self._columns["line"], strict=True)):
            if text is not None and FLOAT_LIKE in text and type(line) is bytes:
                found = _data(None, line.decode(), is_publication=True)
                texts[at] = json.dumps(found, ensure_ascii=False)
        return pa.array(texts, pa.string())


def items_of(some: Iterable[Item], wanted: Wanted) -> tuple[Items, dict[int, Command]]:
    """Objects as columns; commands are given by position, since they are no columns.

    >>> flat = Publication(id="p", source="s", time=5, position=1, data={"rent": 900})
    >>> items, _ = items_of([flat], Wanted(frozenset([("rent",)])))
    >>> items.times, items.paths
    (array([5]), ('rent',))
    """
    every, commands = list(some), dict[int, Command]()
    columns = _Columns(len(every), wanted)
    for at, item in enumerate(every):
        line = None
        if isinstance(item, Command):
            commands[item.position] = item
            line = json.dumps(item_document(item))
        columns.put(at, _Read(item.position, _kind(item), item, line))
    return columns.items(None), commands


def rejects_of(
    positions: Sequence[int | None],
    lines: Sequence[str | None],
    reasons: Sequence[str],
    wanted: Wanted,
) -> Items:
    """What was turned away, as items."""
    columns = _Columns(len(reasons), wanted)
    for at, refused in enumerate(zip(positions, lines, reasons, strict=True)):
        position, line, reason = refused
        columns.put(at, _Read(position, REJECT, line=line, reason=reason))
    return columns.items(None)


def with_wanted(items: Items, wanted: Wanted) -> Items:
    """Items that know of their publications what is wanted now, which may be more than it was when
    they were read: the rest is looked up in their lines."""
    missing = [path for path in wanted.paths if not items.has_attribute(format_path(path))]
    lacks_data = wanted.data and items.batch.column("data").null_count == len(items)
    if not missing and not lacks_data:
        return items
    is_publication = (items.kinds == PUBLICATION).tolist()
    columns = items.values("data"), items.values("line"), is_publication
    data = [_data(*each) for each in zip(*columns, strict=True)]
    if missing:
        known, new = items.batch.column(ATTRIBUTES), attribute_columns(data, missing)
        fields = {field.name: known.field(field.name) for field in known.type}
        fields |= {field.name: new.field(field.name) for field in new.type}
        names = sorted(fields)
        attributes = pa.StructArray.from_arrays([fields[name] for name in names], names)
        items = items.with_columns(attributes=attributes)
    if lacks_data:
        items = items.with_columns(data=data_column(data, is_publication))
    return items


def _data(data: str | None, line: str | None, is_publication: bool) -> Data:
    if not is_publication:
        return NO_DATA
    if data is not None:
        return json.loads(data)  # type: ignore[no-any-return]
    assert line is not None
    return json.loads(line.removeprefix("\ufeff")).get("data") or NO_DATA
