"""The baseline of a database: films joined to the bounds of all subscriptions, in DuckDB."""

import duckdb
import numpy as np
import pyarrow as pa

from .boxes import Boxes
from .matches import Matches
from .movies import Movies
from .sql import FILM_COLUMNS, box_table, join_condition


class DuckDbJoin:
    """On one core, with both tables in memory.

    >>> from .boxes import boxes_of
    >>> from .conditions import Range
    >>> from .movies import generated_movies
    >>> join = DuckDbJoin(boxes_of([Range("year", 1950, 1999), Range("year", low=1980)]))
    >>> sorted(join.match(generated_movies(3)).subscriptions.tolist())
    [0, 0, 1]
    """

    def __init__(self, boxes: Boxes) -> None:
        self._database = duckdb.connect(config={"threads": 1})
        self._database.register("rows", box_table(boxes))
        self._database.execute("create table boxes as from rows")
        distinct = "" if boxes.one_each else "distinct"
        self._query = f"""
            select {distinct} p.place, s.subscription
            from films p join boxes s on {join_condition(boxes)}
        """

    def match(self, movies: Movies) -> Matches:
        table = movies.table.append_column("place", pa.array(np.arange(len(movies))))
        self._database.register("publications", table)
        columns = ", ".join(("place", *FILM_COLUMNS))
        self._database.execute(
            f"create or replace table films as select {columns} from publications"
        )
        found = self._database.execute(self._query).fetchnumpy()
        return Matches(found["place"], found["subscription"])
