"""Start Spark for this process: quiet and in UTC, on this machine alone or on a cluster."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from shortlist.spark.java import spark_java_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_DRIVER_MEMORY = "4g"
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Most of a local job's JVM time is warming up; the work itself is done in Python."""
LOOPBACK = "127.0.0.1"
FEW_WORDS = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"
QUIET = {
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.showConsoleProgress": "false",
}


def local_session(
    app_name: str = "shortlist", cores: int | None = None, memory: str | None = None
) -> SparkSession:
    """Return the active Spark session as it is, or start one on this machine.

    `cores` defaults to all of them, `memory` to $SHORTLIST_DRIVER_MEMORY or else 4g.
    """
    from pyspark.sql import SparkSession

    if active := SparkSession.getActiveSession():
        return active
    _prepare_environment(sys.executable, is_alone=True)
    scratch = tempfile.mkdtemp(prefix="shortlist-")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    memory = memory or os.environ.get("SHORTLIST_DRIVER_MEMORY", DEFAULT_DRIVER_MEMORY)
    builder = SparkSession.builder.appName(app_name)
    for key, value in local_settings(cores or os.cpu_count() or 1, memory, scratch).items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def cluster_session(master: str, app_name: str = "shortlist") -> SparkSession:
    """Return the active Spark session as it is, or start one on a given master.

    Executors use the Python at $PYSPARK_PYTHON, or else at this one's path. What else a cluster
    needs is set where Spark looks for it: `spark-defaults.conf`, or $PYSPARK_SUBMIT_ARGS.
    """
    from pyspark.sql import SparkSession

    if active := SparkSession.getActiveSession():
        return active
    python = os.environ.get("PYSPARK_PYTHON", sys.executable)
    _prepare_environment(python, is_alone=is_on_this_machine(master))
    builder = SparkSession.builder.appName(app_name)
    for key, value in cluster_settings(master).items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def submitted_session(app_name: str = "shortlist") -> SparkSession:
    """Return a session of the job that `spark-submit` has started, on the master that it chose."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(app_name)
    for key, value in QUIET.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def any_session(master: str | None = None) -> SparkSession:
    """A session on a given master, on that of `spark-submit`, or on this machine."""
    if master is not None:
        return cluster_session(master)
    return submitted_session() if "PYSPARK_GATEWAY_PORT" in os.environ else local_session()


def local_settings(cores: int, memory: str, scratch: str) -> dict[str, str]:
    """Return Spark's settings for a session on this machine.

    >>> local_settings(2, "1g", "scratch")["spark.master"]
    'local[2]'
    """
    return {
        "spark.master": f"local[{cores}]",
        "spark.driver.memory": memory,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.host": LOOPBACK,
        "spark.driver.extraJavaOptions": f"{QUICK_START} {FEW_WORDS}",
        "spark.local.dir": scratch,
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.shuffle.partitions": str(cores),
        "spark.sql.warehouse.dir": str(Path(scratch, "warehouse")),
        "spark.ui.enabled": "false",
        **QUIET,
    }


def cluster_settings(master: str) -> dict[str, str]:
    """Return Spark's settings for a session on a master.

    >>> "spark.driver.host" in cluster_settings("spark://127.0.0.1:7077")
    True
    >>> "spark.driver.host" in cluster_settings("spark://node1:7077")
    False
    """
    settings = {"spark.master": master, "spark.driver.defaultJavaOptions": FEW_WORDS, **QUIET}
    if is_on_this_machine(master):
        settings |= {
            "spark.driver.bindAddress": LOOPBACK,
            "spark.driver.host": LOOPBACK,
            "spark.ui.enabled": "false",
        }
    return settings


def is_on_this_machine(master: str) -> bool:
    """Whether a master is reached without a network, so that nothing else needs to reach us.

    >>> [is_on_this_machine(url) for url in ("local[2]", "spark://127.0.0.1:7077", "yarn")]
    [True, True, False]
    """
    return master.startswith("local") or urlsplit(master).hostname in (LOOPBACK, "localhost")


def _prepare_environment(python: str, *, is_alone: bool) -> None:
    os.environ["JAVA_HOME"] = str(spark_java_home())
    os.environ["PYSPARK_PYTHON"] = python
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if is_alone:
        # The launcher looks up the host's name before it reads any setting.
        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
