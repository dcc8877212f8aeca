"""A strong engineer's alternative: a loop of micro-batches in DuckDB.

Subscriptions are cut into the cells of a grid and joined by cell; the three best of each
subscription so far are a table; what was read, this table and the deliveries of a batch are
committed in one transaction on a file. Then the deliveries go to a log as lines, where others can
read them: a file of DuckDB's is locked while it is written. What is to be there is in the tables,
so that whoever starts again could put out what is missing.

What it does is less: one policy for all, without promotion, novelty, ranks, ties, windows or
commands, lines that say little, and what comes and goes within a batch is not delivered, so that
larger batches deliver less.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.json

from shortlist.live.outlets import joined_texts
from shortlist.log.base import DELIVERIES, INPUT, Log
from shortlist.model.joined import JoinedTexts

from .grid import MEETS, Grid
from .live_load import ATTRIBUTES, RANGE, Wish

K = 3
CORES = 2
CREATE = """
    create table best (subscription int, price int, position bigint);
    create table deliveries (subscription int, price int, position bigint);
    create table progress as select 0::bigint as position, 0::bigint as delivered;
"""
LINES = """
    select 's' || subscription as subscription,
        '{{"shortlist": "s' || subscription || '", "position": ' || position
        || ', "score": -' || price || '}}' as line
    from chosen where position > {} order by position, subscription
"""
"""The deliveries of a batch behind a position, as lines for a log."""
FLOORS = f"""
    create table floors as select range::int as subscription, {RANGE} as price from range({{}})
"""
"""What a price must be below: that of the worst of the best, once there are as many as may be."""


class Speed(NamedTuple):
    """What was measured once it was warm."""

    publications_per_second: float
    deliveries_per_second: float


class DuckDbLoop:
    """Reads a log from its beginning on.

    With `floors`, what cannot be among the best of a subscription is left out while joining.

    >>> from tempfile import TemporaryDirectory
    >>> from shortlist.log.sqlite import SqliteLog
    >>> from .grid import SQUARE
    >>> with TemporaryDirectory() as name:
    ...     log = SqliteLog(Path(name, "flats.log"))
    ...     flat = b'{"id": "f", "data": {"price": 5, "size": 6, "year": 7}}'
    ...     end = log.append(INPUT, [flat] * 5)
    ...     wish = Wish("s", (0, 0, 0), (9, 9, 9))
    ...     loop = DuckDbLoop(Path(name, "loop.db"), [wish], SQUARE, outlet=log)
    ...     for position in (2, 4):
    ...         loop.read(log, position)
    ...     loop.best_of([0])
    ...     [entry.content for entry in log.read(DELIVERIES, 0, key="s0")][2:]
    {0: [(5, 1), (5, 2), (5, 3)]}
    [b'{"shortlist": "s0", "position": 3, "score": -5}']
    """

    def __init__(
        self,
        file: Path,
        found: Sequence[Wish],
        grid: Grid,
        *,
        floors: bool = False,
        outlet: Log | None = None,
    ) -> None:
        self._database = duckdb.connect(str(file), config={"threads": CORES})
        self._database.register("cut", grid.cut(found))
        self._database.execute("create table cells as from cut order by cell")
        self._database.execute(CREATE)
        self._floors = floors
        if floors:
            self._database.execute(FLOORS.format(len(found)))
        self._match = match_query(grid)
        if floors:
            self._match += (
                " join floors on floors.subscription = cells.subscription"
                " and flats.price < floors.price"
            )
        self._outlet = outlet
        self._position = 0
        self._put_out = 0

    def run(self, log: Log, at_most: int, warm_up: int) -> Speed:
        """Reads what is there, so many at a time; after the first ones it is timed."""
        end, began, before = log.end(INPUT), None, 0
        while self._position < end:
            if began is None and self._position >= warm_up:
                began, first, before = time.perf_counter(), self._position, self._delivered()
            self.read(log, min(self._position + at_most, end))
        if began is None:
            raise ValueError(f"expected more than {warm_up} entries, found {end}")
        seconds = time.perf_counter() - began
        return Speed((end - first) / seconds, (self._delivered() - before) / seconds)

    def read(self, log: Log, until: int) -> None:
        """One micro-batch."""
        found = [entry.content for entry in log.read(INPUT, self._position, until)]
        self._database.register("flats", flats_of(found, self._position))
        execute = self._database.execute
        execute("begin")
        execute(f"create or replace temp table found as {self._match}")
        execute(f"""
            create or replace temp table chosen as
            select * from (
                from found union all
                from best where subscription in (select subscription from found)
            )
            qualify row_number() over (partition by subscription order by price, position) <= {K}
        """)
        execute("delete from best where subscription in (select subscription from found)")
        execute("insert into best from chosen")
        if self._floors:
            execute(f"""
                update floors set price = worst.price from (
                    select subscription, max(price) as price from chosen
                    group by subscription having count(*) = {K}
                ) as worst where worst.subscription = floors.subscription
            """)
        execute(f"insert into deliveries from chosen where position > {self._position}")
        lines = self._lines()
        delivered = self._put_out + lines.num_rows
        execute(f"update progress set position = {until}, delivered = {delivered}")
        execute("commit")
        if self._outlet is not None and lines.num_rows:
            names, texts = (joined_texts(column.combine_chunks()) for column in lines.columns)
            keys = JoinedTexts(names)
            self._outlet.append(DELIVERIES, texts, keys=keys, expected_end=self._put_out)
        self._position, self._put_out = until, delivered

    def _lines(self) -> pa.Table:
        """What is to be put out: subscriptions and lines."""
        if self._outlet is None:
            return pa.table({})
        return self._database.sql(LINES.format(self._position)).to_arrow_table()

    def best_of(self, subscriptions: Sequence[int]) -> dict[int, list[tuple[int, int]]]:
        """The prices and positions of the best of some subscriptions, the best first."""
        rows = self._database.execute(
            "from best where subscription in (select unnest(?)) order by all", [list(subscriptions)]
        ).fetchall()
        found: dict[int, list[tuple[int, int]]] = {number: [] for number in subscriptions}
        for subscription, price, position in rows:
            found[subscription].append((price, position))
        return found

    def close(self) -> None:
        self._database.close()

    def _delivered(self) -> int:
        (count,) = self._database.execute("select count(*) from deliveries").fetchall()[0]
        return int(count)


def match_query(grid: Grid) -> str:
    """Who wants which of `flats`, where wishes are cut into `cells`."""
    return f"""
        select cells.subscription, flats.price, flats.position
        from (select *, {grid.cell} as cell from flats) as flats
        join cells on flats.cell = cells.cell and {MEETS}
    """


def flats_of(lines: Sequence[bytes], before: int) -> pa.Table:
    """What lines of a log say, as columns; their positions follow one.

    >>> line = b'{"id": "f", "data": {"price": 5, "size": 6, "year": 7}}'
    >>> flats_of([line], before=8).to_pylist()
    [{'position': 9, 'price': 5, 'size': 6, 'year': 7}]
    """
    read = pyarrow.json.read_json(pa.BufferReader(b"\n".join(lines)))
    data = read.column("data").combine_chunks()
    positions = np.arange(before + 1, before + 1 + len(lines))
    return pa.table(
        {
            "position": positions,
            **{name: data.field(name).cast(pa.int32()) for name in ATTRIBUTES},
        }
    )


def best_by_scan(
    log: Log, found: Sequence[Wish], subscriptions: Sequence[int]
) -> dict[int, list[tuple[int, int]]]:
    """What `DuckDbLoop.best_of` should say, by looking at every pair."""
    flats = flats_of([entry.content for entry in log.read(INPUT, 0)], 0)
    columns = [flats.column(name).to_numpy() for name in ATTRIBUTES]
    prices, positions = columns[0], flats.column("position").to_numpy()
    best = {}
    for number in subscriptions:
        wish = found[number]
        meets = np.ones(flats.num_rows, np.bool_)
        for column, low, high in zip(columns, wish.lows, wish.highs, strict=True):
            meets &= (low <= column) & (column <= high)
        pairs = zip(prices[meets].tolist(), positions[meets].tolist(), strict=True)
        best[number] = sorted(pairs)[:K]
    return best
