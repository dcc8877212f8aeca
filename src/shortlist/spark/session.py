"""Start Spark inside this process: quiet, on the loopback interface only, in UTC."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from shortlist.spark.java import spark_java_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_DRIVER_MEMORY = "4g"
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Most of a local job's JVM time is warming up; the work itself is done in Python."""


def local_session(
    app_name: str = "shortlist", cores: int | None = None, memory: str | None = None
) -> SparkSession:
    """Return the active Spark session as it is, or start one on this machine.

    `cores` defaults to all of them, `memory` to $SHORTLIST_DRIVER_MEMORY or else 4g.
    """
    from pyspark.sql import SparkSession

    if active := SparkSession.getActiveSession():
        return active
    _prepare_environment()
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
    """Return the active Spark session as it is, or start one on a given master."""
    from pyspark.sql import SparkSession

    if active := SparkSession.getActiveSession():
        return active
    _prepare_environment()
    builder = SparkSession.builder.appName(app_name).master(master)
    builder = builder.config("spark.sql.session.timeZone", "UTC")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def any_session(master: str | None = None) -> SparkSession:
    """A session on a given master, or on this machine."""
    return local_session() if master is None else cluster_session(master)


def local_settings(cores: int, memory: str, scratch: str) -> dict[str, str]:
    """Return Spark's settings for a session on this machine.

    >>> local_settings(2, "1g", "scratch")["spark.master"]
    'local[2]'
    """
    log_settings = Path(__file__).with_name("log4j2.properties").as_uri()
    return {
        "spark.master": f"local[{cores}]",
        "spark.driver.memory": memory,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": f"{QUICK_START} -Dlog4j2.configurationFile={log_settings}",
        "spark.local.dir": scratch,
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(cores),
        "spark.sql.warehouse.dir": str(Path(scratch, "warehouse")),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


def _prepare_environment() -> None:
    os.environ["JAVA_HOME"] = str(spark_java_home())
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    # The launcher looks up the host's name before it reads any setting.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
