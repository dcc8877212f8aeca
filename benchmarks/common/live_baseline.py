"""What plain Structured Streaming can do of the same: a join with the wishes, and the best per
window of time; no later promotion, no budget, no k above one.

Runs in a process of its own, `python -m common.live_baseline JOIN LOG SUBSCRIPTIONS FOLDER`, which
prints what it measured as JSON: all its work is the JVM's, which gets its best compiler.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.spark import session
from shortlist.spark.streaming import stream_log

from .grid import CUBE, MEETS
from .live_load import ATTRIBUTES, Wish, wishes

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

CORES = 2
MEMORY = "4g"
FLAT = "id string, time timestamp, data struct<price:int, size:int, year:int>"
FIRST = 1 << 40
"""More than there are positions: a price and a position make one number, the best the least."""


class Join(NamedTuple):
    """A way to join flats with wishes."""

    matched: Callable[[SparkSession, DataFrame, Sequence[Wish]], DataFrame]
    best: Callable[[], Column]
    """Of the flats that a subscription gets in a window."""
    at_most: int
    """Flats in a micro-batch: as many as suits it."""
    publications: int
    """How many it is timed on, the first micro-batch among them, which only warms up."""


def range_join(spark: SparkSession, flats: DataFrame, found: Sequence[Wish]) -> DataFrame:
    """As anybody writes it: all pairs of flats and wishes, wishes on every machine."""
    from pyspark.sql import functions as F  # noqa: N812

    bounds = ", ".join(f"{name}_low int, {name}_high int" for name in ATTRIBUTES)
    table = [
        (wish.id, *(end for pair in zip(wish.lows, wish.highs, strict=True) for end in pair))
        for wish in found
    ]
    wanted = spark.createDataFrame(table, f"subscription string, {bounds}")
    return flats.join(F.broadcast(wanted), F.expr(MEETS))


def grid_join(spark: SparkSession, flats: DataFrame, found: Sequence[Wish]) -> DataFrame:
    """As an expert writes it: by the cells of a grid, with the wishes cached in columns, and the
    flats, of which there are fewer, on every machine; numbers instead of ids."""
    from pyspark.sql import functions as F  # noqa: N812

    cells = spark.createDataFrame(CUBE.cut(found)).repartition(CORES).cache()
    cells.count()
    placed = flats.withColumn("cell", F.expr(CUBE.cell))
    return F.broadcast(placed).join(cells, "cell").where(MEETS)


def _best_id() -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    return F.max_by("id", -F.col("price"))


def _best_number() -> Column:
    """Numbers can be kept in a hash table while they are compared, texts cannot."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.min(F.col("price") * F.lit(FIRST) + F.col("position"))


JOINS = {
    "range": Join(range_join, _best_id, 500, 2_500),
    "grid": Join(grid_join, _best_number, 10_000, 40_000),
}


def measure(join: str, log: str, subscriptions: int, folder: Path) -> dict[str, Any]:
    """Runs one join in a process of its own, over what a log holds."""
    command = [sys.executable, "-m", "common.live_baseline", join, log, str(subscriptions)]
    done = subprocess.run(
        [*command, str(folder)],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.stderr.write(done.stderr)
    done.check_returncode()
    return dict(json.loads(done.stdout.splitlines()[-1]))


def joined(
    spark: SparkSession, join: Join, log: str, found: Sequence[Wish], folder: Path
) -> dict[str, Any]:
    """Rows that came out, and publications a second once warm."""
    from pyspark.sql import functions as F  # noqa: N812

    lines = stream_log(spark, log, at_most=join.at_most).frame
    flat = F.from_json(F.col("line").cast("string"), FLAT).alias("flat")
    flats = lines.select("position", flat).select("position", "flat.id", "flat.time", "flat.data.*")
    best = (
        join.matched(spark, flats, found)
        .withWatermark("time", "0 seconds")
        .groupBy(F.window("time", "10 minutes"), "subscription")
        .agg(join.best().alias("best"))
    )
    rows: list[int] = []
    ended: list[float] = []

    def count(batch: DataFrame, _: int) -> None:
        rows.append(batch.count())
        ended.append(time.monotonic())

    query = (
        best.writeStream.outputMode("update")
        .foreachBatch(count)
        .option("checkpointLocation", str(folder / "checkpoints"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    read = [each["numInputRows"] for each in query.recentProgress if each["numInputRows"]]
    seconds = ended[len(read) - 1] - ended[0]
    return {"rows": sum(rows), "publications_per_second": sum(read[1:]) / seconds}


def main(join: str, log: str, subscriptions: str, folder: str) -> None:
    session.QUICK_START = ""  # what runs for long in the JVM wants its best compiler
    spark = session.local_session(cores=CORES, memory=MEMORY)
    print(json.dumps(joined(spark, JOINS[join], log, wishes(int(subscriptions)), Path(folder))))


if __name__ == "__main__":
    main(*sys.argv[1:])
