"""Starts a standalone cluster on this machine, says where it is, and stops it on Ctrl-C.

.venv/bin/python scripts/standalone_cluster.py --workers 2
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.request import urlopen

import pyspark

from shortlist.spark.session import LOOPBACK, spark_java_home

PATIENCE = 120.0
DAEMON_MEMORY = "256m"


class ClusterFailed(OSError):
    """A cluster that does not start."""


class StandaloneCluster:
    """A master and some workers that listen on this machine only, until the end of a `with` block.

    Each is a process of its own; a worker starts executors as its children.
    """

    def __init__(
        self, folder: str | Path, *, workers: int = 2, cores: int = 1, memory: str = "1g"
    ) -> None:
        self.folder = Path(folder).resolve()
        self._wanted, self._cores, self._memory = workers, cores, memory
        self.url = f"spark://{LOOPBACK}:{_free_port()}"
        self._page = f"http://{LOOPBACK}:{_free_port()}/json/"
        self.workers: list[subprocess.Popen[bytes]] = []
        self._processes = ExitStack()

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._processes as starting:
            host, port = self.url.removeprefix("spark://").split(":")
            page = self._page.split(":")[2].partition("/")[0]
            self._start("master.Master", "--host", host, "--port", port, "--webui-port", page)
            for _ in range(self._wanted):
                self.add_worker()
            self._wait_for_workers()
            self._processes = starting.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._processes.close()

    def add_worker(self) -> subprocess.Popen[bytes]:
        """Starts one more; it is there when `alive` counts it."""
        limits = ["--cores", str(self._cores), "--memory", self._memory]
        place = ["--host", LOOPBACK, "--webui-port", "0", "--work-dir", str(self.folder / "work")]
        worker = self._start("worker.Worker", *limits, *place, self.url)
        self.workers.append(worker)
        return worker

    @property
    def alive(self) -> int:
        """Workers that the master knows and hears of."""
        states = [worker["state"] for worker in self._status().get("workers", ())]
        return states.count("ALIVE")

    def _status(self) -> dict[str, Any]:
        try:
            with urlopen(self._page, timeout=5) as answer:
                status: dict[str, Any] = json.load(answer)
        except OSError:
            return {}
        return status

    def _wait_for_workers(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while (alive := self.alive) < self._wanted:
            if time.monotonic() > deadline:
                raise ClusterFailed(
                    f"expected {self._wanted} workers within {PATIENCE:g} s, found {alive}: "
                    f"see {self.folder}/*.txt"
                )
            time.sleep(0.1)

    def _start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        home = Path(pyspark.__file__).parent
        environment = os.environ | {
            "JAVA_HOME": str(spark_java_home()),
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_DAEMON_MEMORY": DAEMON_MEMORY,
        }
        with (self.folder / f"{name.partition('.')[0]}-{len(self.workers)}.txt").open("wb") as said:
            process = subprocess.Popen(
                [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments],
                stdout=said,
                stderr=said,
                env=environment,
                cwd=self.folder,
            )
        self._processes.callback(_stop, process)
        return process


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind((LOOPBACK, 0))
        port: int = listening.getsockname()[1]
    return port


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--workers", type=int, default=2)
    arguments.add_argument("--cores", type=int, default=1, help="of each worker")
    arguments.add_argument("--memory", default="1g", help="of each worker")
    wanted = arguments.parse_args()
    # as Ctrl-C does: what was started is stopped on the way out
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with (
        suppress(KeyboardInterrupt),
        tempfile.TemporaryDirectory(prefix="shortlist-cluster-") as folder,
        StandaloneCluster(
            folder, workers=wanted.workers, cores=wanted.cores, memory=wanted.memory
        ) as cluster,
    ):
        print(cluster.url, flush=True)
        signal.pause()
