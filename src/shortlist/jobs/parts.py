"""Deliveries of several shards in one order: cut into parts of it, which tasks sort and write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from shortlist.engine.deliveries import DELIVERIES, file_text, put_in_order
from shortlist.jobs.shares import Place, Selected, Wave, mapped, places_of
from shortlist.jobs.sinks import DeliveryFile, end_folder, join_files, replacing
from shortlist.matching.arrays import Bools

if TYPE_CHECKING:
    from shortlist.live.tasks import Run

MOST_AT_ONCE = 2_000_000
"""Deliveries that one task sorts, about."""
NUMBERS = np.iinfo(np.int64)
BEFORE_ALL, BEHIND_ALL = Place(NUMBERS.min, NUMBERS.min), Place(NUMBERS.max, NUMBERS.max)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Deliveries of an interval of their order, (after, until]."""

    shard: int
    """The number of the part: tasks are for shards elsewhere."""
    files: tuple[str, ...]
    after: Place
    until: Place
    out: str
    with_data: bool


def put_parts(
    run: Run, selected: Sequence[Selected], out: Path, with_data: bool, lanes: int
) -> None:
    """Writes all deliveries in order: a Parquet folder if the name says so, else lines."""
    pieces = [piece for each in selected for piece in each.pieces]
    count = sum(piece.size for piece in pieces)
    bounds = cuts(pieces, max(lanes, -(-count // MOST_AT_ONCE)))
    with replacing(out) as whole:
        is_table = out.suffix == ".parquet"
        folder = whole if is_table else whole.with_name("parts")
        folder.mkdir()
        works = [
            Part(
                shard=number,
                files=tuple(each.file for each in selected),
                after=after,
                until=until,
                out=str(folder / f"part-{number:05}{out.suffix}"),
                with_data=with_data,
            )
            for number, (after, until) in enumerate(pairwise(bounds))
        ]
        run(write_part, works)
        if is_table:
            end_folder(folder, with_data)
        else:
            join_files([Path(each.out) for each in works], whole)


def cuts(pieces: Iterable[Wave], parts: int) -> list[Place]:
    """The bounds of parts with about as many deliveries each; of fewer parts where deliveries that
    were made together have more. Without deliveries there is no part.

    >>> cuts([Wave(Place(5, 1), 2), Wave(Place(5, 4), 1), Wave(Place(9, 6), 3)], 2)[1:-1]
    [Place(time=5, position=4)]
    """
    ordered = sorted(pieces)
    if not ordered:
        return []
    count, seen, bounds = sum(piece.size for piece in ordered), 0, [BEFORE_ALL]
    for piece in ordered:
        seen += piece.size
        if seen * parts >= count * len(bounds) and bounds[-1] < piece.last < ordered[-1].last:
            bounds.append(piece.last)
    return [*bounds, BEHIND_ALL]


def write_part(part: Part) -> None:
    """The task that sorts and writes the deliveries of a part."""
    found = [DELIVERIES.empty_table()]
    for file in part.files:
        for batch in mapped(file):
            is_in = _is_behind(batch, part.after) & ~_is_behind(batch, part.until)
            if is_in.any():
                some = batch if is_in.all() else batch.filter(pa.array(is_in))
                found.append(pa.Table.from_batches([some]))
    every = pa.concat_tables(found, promote_options="permissive").unify_dictionaries()
    deliveries, out = put_in_order(every), Path(part.out)
    if out.suffix == ".parquet":
        with DeliveryFile(out, part.with_data) as parquet:
            parquet.write(deliveries)
    else:
        with out.open("wb") as lines:
            lines.write(file_text(deliveries, part.with_data))


def _is_behind(deliveries: pa.RecordBatch, place: Place) -> Bools:
    times, positions = places_of(deliveries)
    found: Bools = (times > place.time) | ((times == place.time) & (positions > place.position))
    return found
