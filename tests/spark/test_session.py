"""Sessions that others have started."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shortlist.spark.session import QUICK_START, spark_java_home

pytestmark = pytest.mark.spark
BIN = Path(sys.executable).parent


@pytest.mark.soak
def test_spark_submit_chooses_the_master(tmp_path):
    (tmp_path / "registry.yaml").write_text("subscriptions: [{id: all}]")
    line = '{"id": "p", "source": "s", "time": "2026-03-01T09:00:00Z"}'
    (tmp_path / "publications.jsonl").write_text(line)
    environment = os.environ | {
        "JAVA_HOME": str(spark_java_home()),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    code = (
        "from shortlist.cli import main; import atexit; from pyspark import SparkContext; "
        "atexit.register(lambda: print(SparkContext._active_spark_context.master)); main()"
    )
    (tmp_path / "program.py").write_text(code)
    done = subprocess.run(
        [
            BIN / "spark-submit",
            *("--master", "local[1]", "--conf", "spark.ui.enabled=false"),
            *("--conf", "spark.sql.shuffle.partitions=1", "--driver-java-options", QUICK_START),
            *("--driver-memory", "1g", "program.py", "run"),
            *("registry.yaml", "publications.jsonl", "--out", "out.jsonl", "--quiet"),
        ],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "local[1]"
    assert "1 publications, 1 matches, 1 deliveries" in done.stdout
    assert (tmp_path / "out.jsonl").exists()
