"""How long publications take from one entry of a log to another."""

import json
import subprocess
import sys
from pathlib import Path

from shortlist.log.base import DELIVERIES, INPUT, Log

from .live_load import SOURCE


def publish_at(url: str, rate: float, seconds: float, appends_per_second: float) -> int:
    """Has publishers in a process of their own append at a rate; how many publications."""
    code = (
        "from common.live_load import publish; from shortlist.log.opening import open_log; "
        f"print(publish(open_log({url!r}), {rate}, {seconds},"
        f" appends_per_second={appends_per_second}))"
    )
    folder = Path(__file__).parent.parent
    command = [sys.executable, "-c", code]
    made = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=True)
    return int(made.stdout)


def latencies_since(log: Log, taken: int, delivered: int) -> list[float]:
    """Seconds that deliveries came after what they deliver, for the entries from two places of the
    log on: of its input, and of its deliveries."""
    came = {
        json.loads(entry.content)["id"]: entry.appended
        for entry in log.read(INPUT, taken)
        if b'"id"' in entry.content
    }
    found = []
    for entry in log.read(DELIVERIES, delivered):
        delivery = json.loads(entry.content)
        # the last of what was there before may come out now
        if delivery["cause"] == "arrival" and delivery["source"] == SOURCE:
            found.append((entry.appended - came[delivery["publication"]]) / 1e6)
    return found
