"""Simple publications to columns, without an object for each; see `kernels/simple_lines.py`."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from shortlist.intake.attributes import value_columns
from shortlist.intake.kernels import simple_lines as kernels
from shortlist.model.items import ATTRIBUTES, PUBLICATION, Items, Wanted
from shortlist.model.joined import Joined
from shortlist.model.paths import format_path
from shortlist.model.settings import Limits

Bools = npt.NDArray[np.bool_]
Longs = npt.NDArray[np.int64]


def simple_lines(
    positions: Sequence[int | None],
    lines: Joined,
    appended: Sequence[int | None] | None,
    wanted: Wanted,
    limits: Limits,
    *,
    by_arrival: bool,
) -> tuple[Bools, Items]:
    """Which lines are simple publications, and those as items; `data` must not be wanted.

    >>> line = b'{"id": "p", "source": "s", "time": "1970-01-01T00:00:01Z", "data": {"rent": 9}}'
    >>> rent = Wanted(frozenset([("rent",)]))
    >>> lines = Joined.of([line, b'{"id": "p"'])
    >>> is_simple, items = simple_lines([4, 5], lines, None, rent, Limits(), by_arrival=False)
    >>> is_simple, items.positions, items.values("attributes")[0]["rent"]["number"]
    (array([ True, False]), array([4]), 9.0)
    """
    content, stops = np.frombuffer(lines.content, np.uint8), np.asarray(lines.stops, np.int64)
    # of flat data only paths of one key lead anywhere
    keys = sorted(path[0] for path in wanted.paths if len(path) == 1)
    only_ascii = not _is_utf8(lines.all)
    rules = kernels.Rules(
        limits.payload_bytes, limits.attributes, limits.id_length, not by_arrival, only_ascii
    )
    found = kernels.room_for(len(lines), len(keys))
    kernels.read_simple(content, lines.start, stops, _names(keys), rules, found)
    rows = np.flatnonzero(found.is_simple)

    def texts(spans: Longs) -> pa.StringArray:
        cut, offsets = kernels.cut_out(content, spans, rows)
        return pa.StringArray.from_buffers(rows.size, pa.py_buffer(offsets), pa.py_buffer(cut))

    def texts_where(are_there: Bools, spans: Longs) -> pa.StringArray | None:
        if are_there.any():
            return pc.if_else(pa.array(are_there), texts(spans), None)
        return None

    said = found.times[0, rows]
    known = None if appended is None else pa.array(appended, pa.int64()).take(pa.array(rows))
    columns = {
        "position": np.asarray(positions, np.int64)[rows],
        "kind": np.full(rows.size, PUBLICATION, np.int8),
        "time": known if by_arrival else said,
        "event_time": _instants(said),
        "source": texts(found.spans[kernels.SOURCE]),
        "id": texts(found.spans[kernels.ID]),
        "type": texts_where(found.spans[kernels.TYPE, rows, 1] > 0, found.spans[kernels.TYPE]),
        "expiry": _instants(found.times[kernels.EXPIRY - kernels.TIME, rows]),
        "line": texts(np.column_stack([np.append(lines.start, stops[:-1]), stops])),
        "appended": known,
        ATTRIBUTES: _attributes(wanted, keys, found, rows, texts_where),
    }
    return found.is_simple, Items.of_columns(rows.size, columns, wanted)


def _instants(times: Longs) -> pa.Array | None:
    """Times, of which some may not be there; None if none is."""
    is_never = times == kernels.NEVER
    return None if is_never.all() else pa.array(times, mask=is_never)


def _attributes(
    wanted: Wanted,
    keys: Sequence[str],
    found: kernels.Found,
    rows: Longs,
    texts_where: Callable[[Bools, Longs], pa.StringArray | None],
) -> pa.StructArray:
    columns: dict[str, dict[str, pa.Array]] = {}
    place_of = {key: place for place, key in enumerate(keys)}
    for path in sorted(wanted.paths, key=format_path):
        parts = columns[format_path(path)] = {}
        if len(path) == 1:
            at = place_of[path[0]]
            kinds = found.kinds[at, rows]
            parts["number"] = pa.array(found.numbers[at, rows], mask=kinds != kernels.NUMBER)
            texts = texts_where(kinds == kernels.TEXT, found.texts[at])
            if texts is not None:
                parts["text"] = texts
    return value_columns(columns, rows.size)


def _names(keys: Sequence[str]) -> kernels.Names:
    joined = Joined.of([key.encode() for key in keys])
    content, stops = np.frombuffer(joined.content, np.uint8), np.asarray(joined.stops, np.int64)
    return kernels.Names(content, stops)


def _is_utf8(content: memoryview) -> bool:
    """No character of which lies half in one line and half in another that is simple, too: those
    begin and end with one of ASCII."""
    try:
        str(content, "utf-8")
    except UnicodeDecodeError:
        return False
    return True
