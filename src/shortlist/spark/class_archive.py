"""Spark's classes in a file, as a JVM has them in memory: one that maps it starts in half the time.

    python -m shortlist.spark.class_archive

makes it for this user, with this Java and this Spark; sessions on this machine use it from then on.
Most of what a JVM does before its first job is to read and check ten thousand classes.
"""

from __future__ import annotations

import os
from hashlib import sha256
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SILENT = "-Xlog:cds*=off"
"""An archive that does not fit, since Java or Spark were replaced, is not used: no matter."""


def archive_in(java_home: Path) -> Path:
    """The file for a Java and the Spark that is installed, whether it is there or not."""
    import pyspark

    spark_home = os.environ.get("SPARK_HOME", str(Path(pyspark.__file__).parent))
    name = sha256(f"{pyspark.__version__} {spark_home}".encode()).hexdigest()[:16]
    return java_home / f"spark-{name}.jsa"


def options_to_use(archive: Path) -> str:
    """Of a JVM; none if there is no such file.

    >>> options_to_use(Path("/nowhere/spark.jsa"))
    ''
    """
    return f'"-XX:SharedArchiveFile={archive}" {SILENT}' if archive.is_file() else ""


def make() -> Path | None:
    """Lets Spark do what deployments and batches ask of it, and keeps its classes; None where its
    Java cannot do that. Processes may do so at the same time."""
    from shortlist.spark.session import spark_java_home, start_here

    archive = archive_in(spark_java_home())
    draft = archive.with_suffix(f".{os.getpid()}")
    spark = start_here(java_options=f'"-XX:ArchiveClassesAtExit={draft}" {SILENT}')
    gateway: Any = spark.sparkContext._gateway
    _use(spark)
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()  # its JVM ends then, and writes before that
    gateway.proc.wait()
    if not draft.is_file():
        return None
    os.replace(draft, archive)
    return archive


def _use(spark: SparkSession) -> None:
    from shortlist.spark.dataframes import rank
    from shortlist.spark.tasks import Lanes

    Lanes(spark)(attrgetter("shard"), [SimpleNamespace(shard=shard) for shard in range(2)])
    offers = spark.createDataFrame(
        [("f1", "ads", "2026-03-01T09:00:00Z", 1350)],
        "id string, source string, time string, rent int",
    )
    rank(offers, {"subscriptions": [{"id": "s1", "policy": {"kind": "top-k", "k": 1}}]}).toArrow()


if __name__ == "__main__":
    made = make()
    print(
        "this Java keeps no classes" if made is None else f"{made}: {made.stat().st_size:,} bytes"
    )
