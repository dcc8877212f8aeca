"""Spark's classes in a file: made once, used by every JVM, and no matter if it is wrong."""

import os
import shlex
import subprocess
import sys

import pytest

from shortlist.spark.class_archive import archive_in, options_to_use
from shortlist.spark.session import spark_java_home

COUNTED = """
from shortlist.spark.session import local_session

spark = local_session(cores=1, memory="512m")
arguments = spark._jvm.java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments()
print(any("SharedArchiveFile" in argument for argument in arguments), spark.range(5).count())
"""


def said(*command, **environment):
    done = subprocess.run(
        [*map(str, command)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return done.stdout, done.stderr


@pytest.mark.parametrize("content", [b"", b"no archive" * 1000])
def test_what_is_no_archive_is_not_used_and_nobody_hears_of_it(tmp_path, content):
    java = spark_java_home() / "bin" / "java"
    wrong = tmp_path / "spark with blanks.jsa"
    wrong.write_bytes(content)
    options = shlex.split(options_to_use(wrong))
    assert len(options) == 2
    out, words = said(java, "-version")
    assert said(java, *options, "-version") == (out, words.replace(", sharing", ""))


def test_each_java_has_its_own(tmp_path):
    assert archive_in(tmp_path).parent == tmp_path
    assert archive_in(tmp_path) == archive_in(tmp_path)


@pytest.mark.spark
@pytest.mark.soak
def test_a_session_uses_the_one_that_was_made(tmp_path):
    environment = {"XDG_CACHE_HOME": str(tmp_path), "SHORTLIST_DRIVER_MEMORY": "512m"}
    made, _ = said(sys.executable, "-m", "shortlist.spark.class_archive", **environment)
    (archive,) = tmp_path.glob("shortlist/*/*.jsa")
    assert made == f"{archive}: {archive.stat().st_size:,} bytes\n"
    assert said(sys.executable, "-c", COUNTED, **environment) == ("True 5\n", "")
