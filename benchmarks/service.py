"""The HTTP service on loopback: publications a second, and streams at the same time.

Run: python benchmarks/service.py
Prints one JSON line per figure. The service is a process of its own over a log in a file;
publishers and receivers are plain sockets in this process, and deliveries are written to the log as
a deployment would write them, so that the service alone is measured.
"""

import asyncio
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from common.report import Report

from shortlist.intake.files import registry_from_documents
from shortlist.live.driver import begin
from shortlist.live.places import announce, files_in, state_folder
from shortlist.live.registers import MANIFEST, committed
from shortlist.log.base import DELIVERIES, INPUT
from shortlist.log.sqlite import SqliteLog
from shortlist.model.times import format_time

PUBLISHERS = 64
SECONDS = 10.0
STREAMS = 1_000
SHORTLISTS = 100
ROUNDS = 20


def main() -> None:
    report = Report()
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as (log, port):
        before = log.end(INPUT)
        for size in (1, 100):
            report.add("publishing", **asyncio.run(publishing(port, size)))
        published = log.end(INPUT) - before
        report.add("durable", entries=published)
        report.add("streams", **asyncio.run(streaming(log, port)))


@contextmanager
def served(folder: Path) -> Iterator[tuple[SqliteLog, int]]:
    """A log with shortlists, and the port of a service on it."""
    url = f"sqlite:{folder}/city.log"
    log = SqliteLog(folder / "city.log")
    shortlists = [{"id": f"l{n}", "subscriber": "you"} for n in range(SHORTLISTS)]
    files = files_in(state_folder(url))
    begin(log, files, registry_from_documents({"shortlists": shortlists}), 1)
    announce(log, state_folder(url))
    command = [sys.executable, "-m", "shortlist", "serve", "--log", url, "--port", "0"]
    options = ["--rate", "1000000"]
    with subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True) as service:
        assert service.stderr is not None
        found = re.search(r":(\d+) ", service.stderr.readline())
        assert found is not None
        try:
            yield log, int(found[1])
        finally:
            service.terminate()


async def publishing(port: int, size: int) -> dict[str, float]:
    """Publishers that send so many events at a time, each when the last ones are durable."""
    deadline = time.perf_counter() + SECONDS
    works = [_publisher(port, size, deadline, number) for number in range(PUBLISHERS)]
    took = [each for one in await asyncio.gather(*works) for each in one]
    return {
        "events a request": size,
        "publishers": PUBLISHERS,
        "publications a second": round(size * len(took) / SECONDS),
        **_quantiles(took),
    }


async def _publisher(port: int, size: int, deadline: float, number: int) -> list[float]:
    reader, writer = await _connected(port)
    took = []
    while (began := time.perf_counter()) < deadline:
        events = [
            {"id": f"{number}-{began}-{place}", "source": "ads", "data": {"rent": place}}
            for place in range(size)
        ]
        body = json.dumps(events).encode()
        head = f"POST /events HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n"
        writer.write(f"{head}Content-Type: application/json\r\n\r\n".encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        assert b" 202 " in answer.partition(b"\r\n")[0], answer
        length = re.search(rb"content-length: (\d+)", answer)
        assert length is not None
        await reader.readexactly(int(length[1]))
        took.append(time.perf_counter() - began)
    writer.close()
    return took


async def streaming(log: SqliteLog, port: int) -> dict[str, float]:
    """Deliveries to every shortlist, round by round, each seen by all who follow it."""
    connections = [await _following(port, f"l{n % SHORTLISTS}") for n in range(STREAMS)]
    took: list[float] = []
    receivers = [asyncio.create_task(_receiver(one, took)) for one in connections]
    for number in range(ROUNDS):
        names = [f"l{n}" for n in range(SHORTLISTS)]
        moment = format_time(time.time_ns() // 1000)
        lines = [
            json.dumps({"shortlist": name, "time": moment, "sent": time.time(), "n": number})
            for name in names
        ]
        await asyncio.to_thread(_deliver, log, names, lines)
        await asyncio.sleep(0.5)
    async with asyncio.timeout(60):
        await asyncio.gather(*receivers)
    return {"streams": STREAMS, "events": len(took), **_quantiles(took)}


def _deliver(log: SqliteLog, names: list[str], lines: list[str]) -> None:
    """As a driver does it: what a batch leads to is committed, and then in the log."""
    revision, manifest = committed(log)
    output = manifest.deliveries.followed(len(lines), ())
    log.put(MANIFEST, replace(manifest, deliveries=output).to_bytes(), revision)
    log.append(DELIVERIES, [*map(str.encode, lines)], keys=names)


async def _following(port: int, shortlist: str) -> asyncio.StreamReader:
    reader, writer = await _connected(port)
    head = f"GET /shortlists/{shortlist}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    writer.write(head.encode())
    await reader.readuntil(b"event: ready")
    reader._kept = writer  # type: ignore[attr-defined]  # or it would be closed
    return reader


async def _receiver(reader: asyncio.StreamReader, took: list[float]) -> None:
    """Every round comes once, in order."""
    for number in range(ROUNDS):
        await reader.readuntil(b"event: delivery\ndata: ")
        delivery = json.loads(await reader.readuntil(b"\n"))
        assert delivery["n"] == number
        took.append(time.time() - delivery["sent"])


async def _connected(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", port)


def _quantiles(took: Sequence[float]) -> dict[str, float]:
    cuts = statistics.quantiles(took, n=100)
    return {"p50 ms": round(1000 * cuts[49], 1), "p99 ms": round(1000 * cuts[98], 1)}


if __name__ == "__main__":
    main()
