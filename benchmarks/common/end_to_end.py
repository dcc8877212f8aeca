"""The same whole job on Spark: Parquet in, deliveries in Parquet out, policy `everything`.

Each side runs in a process of its own, `python -m common.end_to_end SIDE FOLDER`, which prints
what it measured as JSON.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console

from shortlist.engine.deliveries import COLUMNS
from shortlist.jobs.compiling import compile_registry
from shortlist.jobs.job import Job, Outputs
from shortlist.model.settings import Settings
from shortlist.progress import Steps
from shortlist.spark import session
from shortlist.spark.job import OnSpark
from shortlist.spark.tasks import Lanes

from .boxes import boxes_of
from .compiled import subscriptions_of
from .conditions import All
from .movies import DECLARED, Movies
from .plain_sql import PLAIN_CONDITION, plain_table
from .sql import FILM_COLUMNS, box_table, join_condition
from .timing import timed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CORES = 2
MEMORY = "6g"
FEW = 2_000
"""Films of a job that only warms up."""
TUNED_PART = 8
"""The tuned join is timed on every so many-th film, and its seconds are scaled."""

DELIVERIES = {
    "id": r"substr(sha2(concat(s.id, '\u0000', p.source, '\u0000', p.id), 256), 1, 32)",
    "time": "p.time",
    "shortlist": "s.id",
    "subscriber": "s.id",
    "source": "p.source",
    "publication": "p.id",
    "subscription": "s.id",
    "score": "1d",
    "possibility": "1d",
    "necessity": "1d",
    "rank": "cast(null as int)",
    "cause": "'arrival'",
}
"""The columns of a delivery, as SQL over a crisp match of film `p` and subscription `s`."""


def prepare(folder: Path, movies: Movies, conditions: Sequence[All]) -> None:
    """Writes what the sides read."""
    pq.write_table(movies.table, folder / "publications.parquet")
    pq.write_table(movies.table.slice(0, FEW), folder / "few.parquet")
    subscriptions = subscriptions_of(conditions)
    registry = folder / "registry"
    registry.mkdir()
    (registry / "vocabulary.json").write_text(json.dumps(DECLARED))
    columns = {name: [getattr(one, name) for one in subscriptions] for name in ("id", "where")}
    pq.write_table(pa.table(columns), registry / "subscriptions.parquet")
    boxes = boxes_of(conditions)
    ids = pa.array([subscriptions[owner].id for owner in boxes.owners])
    pq.write_table(box_table(boxes).append_column("id", ids), folder / "boxes.parquet")
    (folder / "condition.sql").write_text(join_condition(boxes))
    rows = plain_table(conditions).append_column("id", pa.array(columns["id"]))
    pq.write_table(rows, folder / "plain.parquet")


def measure(side: str, folder: Path) -> dict[str, Any]:
    """Runs one side in a process of its own."""
    command = [sys.executable, "-m", "common.end_to_end", side, str(folder)]
    here = Path(__file__).parents[1]
    done = subprocess.run(command, cwd=here, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stderr)
    done.check_returncode()
    return dict(json.loads(done.stdout.splitlines()[-1]))


class Found(NamedTuple):
    """How many deliveries there are, and whether all sides found the same ones."""

    deliveries: int
    is_same: bool


def found(folder: Path) -> Found:
    """Looks at what the sides wrote: every cell, in any order."""
    mine, plain, tuned = (_fingerprint(folder / f"{side}.parquet") for side in SIDES)
    part = _fingerprint(folder / "ours.parquet", TUNED_PART)
    return Found(mine[0], mine == plain and part == tuned)


def _fingerprint(deliveries: Path, every: int = 1) -> tuple[int, int]:
    """The number and a hash of the deliveries of every so many-th film."""
    hashed = f"hash({', '.join(COLUMNS)})::hugeint"
    query = f"""
        select count(*), coalesce(sum({hashed}), 0) from '{deliveries}/part-*.parquet'
        where {_chosen("publication", every)}
    """
    count, total = duckdb.sql(query).fetchall()[0]
    return count, total


def ours(folder: Path, spark: "SparkSession") -> dict[str, float]:
    """Shortlist's job, after a small one to warm it up.

    It begins with a compiled registry, as the joins do with tables.
    """
    with closing(Lanes(spark)) as lanes:
        compiling = partial(compile_registry, shards=CORES, run=lanes, lanes=CORES)
        registry, compile_seconds = timed(partial(compiling, folder / "registry"))

    def job(published: str, out: str) -> None:
        outputs = Outputs(deliveries=folder / out, rejects=folder / "rejects.jsonl")
        steps = Steps(Console(stderr=True), quiet=True)
        Job(registry, folder / published, outputs, Settings(), steps).run(OnSpark())

    job("few.parquet", "few_deliveries.parquet")
    _, seconds = timed(partial(job, "publications.parquet", "ours.parquet"))
    return {"seconds": seconds, "compile_seconds": compile_seconds}


def plain_join(folder: Path, spark: "SparkSession") -> dict[str, float]:
    """As anybody writes it, after a small part to warm it up."""

    def job(published: str) -> None:
        bounds = spark.read.parquet(str(folder / "plain.parquet"))
        films = _films(folder, spark, published)
        _join(films, bounds, PLAIN_CONDITION, folder / "plain_join.parquet")

    job("few.parquet")
    return {"seconds": timed(partial(job, "publications.parquet"))[1]}


def tuned_join(folder: Path, spark: "SparkSession") -> dict[str, float]:
    """As an expert writes it, on a part of the films, after a smaller part to warm it up."""
    condition = (folder / "condition.sql").read_text()

    def job(part: int) -> None:
        films = _films(folder, spark).where(_chosen("id", part))
        columns = films.selectExpr("id", "source", "time", *FILM_COLUMNS)
        bounds = spark.read.parquet(str(folder / "boxes.parquet"))
        _join(columns, bounds, condition, folder / "tuned_join.parquet")

    job(2 * TUNED_PART)
    return {"seconds": TUNED_PART * timed(partial(job, TUNED_PART))[1]}


def _chosen(column: str, every: int) -> str:
    """Films are numbered behind a word."""
    return f"cast(substr({column}, {len('movie-') + 1}) as int) % {every} = 0"


def _films(
    folder: Path, spark: "SparkSession", published: str = "publications.parquet"
) -> "DataFrame":
    # The file is one split: left as it is, one core would do it all.
    return spark.read.parquet(str(folder / published)).repartition(CORES)


def _join(films: "DataFrame", bounds: "DataFrame", condition: str, out: Path) -> None:
    """A broadcast nested loop, which Spark compiles."""
    from pyspark.sql import functions as F  # noqa: N812

    matched = films.alias("p").join(F.broadcast(bounds).alias("s"), F.expr(condition))
    columns = [f"{DELIVERIES[name]} as {name}" for name in COLUMNS]
    matched.selectExpr(*columns).write.mode("overwrite").parquet(str(out))


SIDES = {side.__name__: side for side in (ours, plain_join, tuned_join)}


def main(side: str, folder: str) -> None:
    if side != "ours":
        session.QUICK_START = ""  # what runs for minutes in the JVM wants its best compiler
    spark = session.local_session(cores=CORES, memory=MEMORY)
    print(json.dumps(SIDES[side](Path(folder), spark)))


if __name__ == "__main__":
    main(*sys.argv[1:])
