"""What plain Structured Streaming can do of the same: a join with the wishes, and the best per
window of time; no later promotion, no budget, no k above one."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from shortlist.spark.stream_input import stream_log

from .live_load import ATTRIBUTES, Wish

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FLAT = "id string, source string, time timestamp, data struct<price:int, size:int, year:int>"


def joined_per_second(
    spark: SparkSession, log: str, found: list[Wish], folder: Path
) -> tuple[int, float]:
    """Runs over what a log holds now: rows that came out, and publications a second once warm."""
    from pyspark.sql import functions as F  # noqa: N812

    bounds = ", ".join(f"{name}_low int, {name}_high int" for name in ATTRIBUTES)
    table = [
        (wish.id, *(end for pair in zip(wish.lows, wish.highs, strict=True) for end in pair))
        for wish in found
    ]
    wanted = spark.createDataFrame(table, f"subscription string, {bounds}")
    lines = stream_log(spark, log, at_most=500).frame
    flats = lines.select(F.from_json(F.col("line").cast("string"), FLAT).alias("flat"))
    flats = flats.select("flat.id", "flat.time", "flat.data.*")
    meets = [
        F.col(name).between(F.col(f"{name}_low"), F.col(f"{name}_high")) for name in ATTRIBUTES
    ]
    matches = flats.join(F.broadcast(wanted), meets[0] & meets[1] & meets[2])
    best = (
        matches.withWatermark("time", "0 seconds")
        .groupBy(F.window("time", "10 minutes"), "subscription")
        .agg(F.max_by("id", -F.col("price")).alias("best"))
    )
    rows: list[int] = []
    ended: list[float] = []

    def count(batch: DataFrame, _: int) -> None:
        rows.append(batch.count())
        ended.append(time.monotonic())

    query = (
        best.writeStream.outputMode("update")
        .foreachBatch(count)
        .option("checkpointLocation", str(folder / "baseline"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    read = [each["numInputRows"] for each in query.recentProgress if each["numInputRows"]]
    seconds = ended[len(read) - 1] - ended[0]
    return sum(rows), sum(read[1:]) / seconds
