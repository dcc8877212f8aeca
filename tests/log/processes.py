"""Appenders in processes of their own, and what has to be true of what they leave behind."""

import subprocess
import sys
from collections import deque
from pathlib import Path

from tests.log.appender import batches

APPENDER = Path(__file__).with_name("appender.py")


def start_appender(url, seed, count, **options):
    return subprocess.Popen(
        [sys.executable, str(APPENDER), url, str(seed), str(count)],
        stdout=subprocess.PIPE,
        text=True,
        **options,
    )


def acknowledged(lines):
    """How many entries the last whole line of an appender says were acknowledged."""
    numbers = [line.split() for line in lines if line.endswith("\n") and line[0].isdigit()]
    return int(numbers[-1][0]) if numbers else 0


def check_whole(entries, seeds):
    """No gaps; of every appender its first batches, whole and in order. How many entries each."""
    assert [entry.offset for entry in entries] == list(range(1, len(entries) + 1))
    counts = dict.fromkeys(seeds, 0)
    expected = {seed: batches(seed) for seed in seeds}
    waiting = deque(entry.content for entry in entries)
    while waiting:
        seed = int(waiting[0].split()[0])
        batch = next(expected[seed])
        assert [waiting.popleft() for _ in batch if waiting] == batch
        counts[seed] += len(batch)
    return counts
