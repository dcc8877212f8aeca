"""How long it takes to come in: commands, and the first job on Spark and in a process.

Run: python benchmarks/doors.py [--repeat 5] [--subscriptions 100000] [--skip spark,registry,up]

Prints one JSON line per figure, the median of several runs of warm programs, each in a process of
its own:

import shortlist     `import shortlist`, by Python
command              `--help`, `publish` of one line and `status` of a small deployment
ready                from the start of a small `up --on process` to its first commit
first job            the README's four publications, `--on process` and on Spark; `ratio` is Spark's
                     to what a bare session takes that maps one Arrow batch in the same run
read and compiled    a registry of so many subscriptions, five policies, by two processes, for two
                     shards; and a deployment begun with it
opened               the same by two other processes, and by a driver; what of it is private
deep conditions      a registry of 5,000 of them, 128 predicates each, read and compiled by two
                     processes
up                   on Spark, from the start of `up` with that registry to its first commit: new,
                     and again; beyond a bare session in the same run
recovery             on Spark, from the death of a worker that has a shard until what is published
                     then is committed; beyond the same with few subscriptions, which is Spark's own
goal                 what was wanted, and whether it was met
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common.arguments import names
from common.goals import Goal
from common.report import Report
from common.starts import report_deep, report_starts
from common.ups import report_ups

from shortlist import registry_from_documents
from shortlist.live.driver import begin
from shortlist.live.places import announce, files_in
from shortlist.live.registers import committed, has_deployment
from shortlist.log.base import INPUT
from shortlist.log.opening import open_log

SUBSCRIPTIONS = [
    {
        "id": "bargains",
        "where": "rent < 1500",
        "score": "-rent",
        "policy": {"kind": "top-k", "k": 2},
    },
    {
        "id": "park",
        "score": "-distance(x: 3, y: 4)",
        "policy": {"kind": "window", "k": 1, "window": "1h"},
    },
]
BARE_SESSION = """
import shortlist
spark = shortlist.local_session()
spark.range(1).mapInArrow(lambda batches: batches, "id bigint").collect()
spark.stop()
"""
SKIPPABLE = ("spark", "registry", "up")
GOALS = (
    *(
        Goal(f"{name}: seconds", {"figure": "command", "command": name}, "seconds", 0.6, True)
        for name in ("--help", "publish", "status")
    ),
    Goal("up --on process: seconds to a commit", {"figure": "ready"}, "seconds", 2, True),
    Goal("import shortlist: seconds", {"figure": "import shortlist"}, "seconds", 0.6, True),
    Goal(
        "first job in a process: seconds",
        {"figure": "first job", "on": "process"},
        "seconds",
        2,
        True,
    ),
)
DEEP = 5_000
OF_100_000 = (
    Goal("read and compiled: seconds", {"figure": "read and compiled"}, "seconds", 8, True),
    Goal("opened by shards: seconds", {"figure": "opened"}, "shards_seconds", 1, True),
    Goal("opened by a driver: seconds", {"figure": "opened"}, "driver_seconds", 1, True),
    Goal("private bytes each", {"figure": "opened"}, "private_bytes_each", 1024, True),
    Goal("deep conditions: seconds", {"figure": "deep conditions"}, "seconds", 6, True),
)
UPS = (
    Goal("up, new: seconds", {"figure": "up", "start": "new"}, "beyond_bare_seconds", 15, True),
    Goal("up, again: seconds", {"figure": "up", "start": "again"}, "beyond_bare_seconds", 5, True),
    Goal("recovery: seconds", {"figure": "recovery"}, "beyond_seconds", 1, True),
)
ON_SPARK = Goal(
    "first job on Spark, by a bare session",
    {"figure": "first job", "on": "spark"},
    "ratio",
    1.25,
    True,
)


def main() -> None:
    asked = arguments()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # modules are compiled once, as anywhere else
    report = Report(repeat=asked.repeat)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        report.add("import shortlist", **medians(["-c", "import shortlist"], asked.repeat))
        url = deployment(folder)
        line = folder / "line.jsonl"
        line.write_text(publication(0))
        commands = {
            "--help": ["--help"],
            "publish": ["publish", str(line), "--log", url],
            "status": ["status", "--log", url],
        }
        for command, words in commands.items():
            report.add("command", command=command, **program(words, asked.repeat))
        job = first_job(folder)
        report.add("first job", on="process", **program([*job, "--on", "process"], asked.repeat))
        report.add("ready", seconds=median_ready(folder, asked.repeat))
        if "spark" not in asked.skip:
            took, bare = program(job, asked.repeat), medians(["-c", BARE_SESSION], asked.repeat)
            report.add("first job", on="spark", **took, ratio=took["seconds"] / bare["seconds"])
    goals = [*GOALS] if "spark" in asked.skip else [*GOALS, ON_SPARK]
    if "up" not in asked.skip:
        bare = medians(["-c", BARE_SESSION], 1)["seconds"]
        with tempfile.TemporaryDirectory() as name:
            report_ups(report, asked.subscriptions, Path(name), bare)
        goals += UPS
    if "registry" not in asked.skip:
        report_starts(report, asked.subscriptions)
        report_deep(report, DEEP)
        goals += OF_100_000
    report.judge(goals)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--subscriptions", type=int, default=100_000)
    parser.add_argument("--skip", type=names(SKIPPABLE), default=[], help=", ".join(SKIPPABLE))
    return parser.parse_args()


def median_ready(folder: Path, repeat: int) -> float:
    return statistics.median(ready(folder / f"ready {number}") for number in range(repeat + 1))


def ready(folder: Path) -> float:
    """Seconds that a new deployment takes to its first commit, where there are lines to read."""
    folder.mkdir()
    registry, url = folder / "registry.json", f"sqlite:{folder / 'city.log'}"
    registry.write_text(json.dumps({"subscriptions": SUBSCRIPTIONS}))
    log = open_log(url)
    log.append(INPUT, [publication(0).encode(), publication(1).encode()])
    words = ["up", str(registry), "--log", url, "--metrics", "off", "--on", "process"]
    began = time.monotonic()
    up = subprocess.Popen([sys.executable, "-m", "shortlist", *words], stderr=subprocess.DEVNULL)
    while not (has_deployment(log) and committed(log)[1].number):
        time.sleep(0.005)
    seconds = time.monotonic() - began
    up.terminate()
    up.wait()
    log.close()
    return seconds


def program(words: list[str], repeat: int) -> dict[str, float]:
    return medians(["-m", "shortlist", *words], repeat)


def medians(arguments: list[str], repeat: int) -> dict[str, float]:
    """Seconds that Python takes with these arguments, and those of them in which it computes; one
    run before the others warms files up."""
    seconds, cpu_seconds = [], []
    for _ in range(repeat + 1):
        began, before = time.monotonic(), _computed()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        seconds.append(time.monotonic() - began)
        cpu_seconds.append(_computed() - before)
    return {
        "seconds": statistics.median(seconds[1:]),
        "cpu_seconds": statistics.median(cpu_seconds[1:]),
    }


def _computed() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def deployment(folder: Path) -> str:
    """One that has read nothing yet."""
    url = f"sqlite:{folder / 'city.log'}"
    log = open_log(url)
    registry = registry_from_documents({"subscriptions": SUBSCRIPTIONS})
    begin(log, files_in(folder / "state"), registry, shards=2)
    announce(log, folder / "state")
    log.close()
    return url


def first_job(folder: Path) -> list[str]:
    registry, publications = folder / "registry.json", folder / "publications.jsonl"
    registry.write_text(json.dumps({"subscriptions": SUBSCRIPTIONS}))
    publications.write_text("".join(publication(number) for number in range(4)))
    return ["run", str(registry), str(publications), "--out", str(folder / "deliveries.jsonl")]


def publication(number: int) -> str:
    data = {"rent": 1200 + 90 * number, "x": number, "y": 5}
    time = f"2026-03-01T09:{number:02}:00Z"
    return json.dumps({"id": f"f{number}", "source": "ads", "time": time, "data": data}) + "\n"


if __name__ == "__main__":
    main()
