"""Figures of a benchmark beside those of another revision, in one run.

Run: python benchmarks/compare.py --base REV [--rounds 2] [--own] [--save] batch "live --skip range"

Each benchmark is named with its arguments. A round runs it on the sources of REV and then on these,
so that a machine that is busier for a while is so for both; medians over the rounds count. The
benchmark's file is the one here, which PYTHONPATH leads to the other sources; with --own each side
runs its own, for benchmarks that use what REV does not have. Before the rounds each side runs it
once, uncounted, for its kernels may not be compiled yet.

Prints one JSON line per figure: what is the same on both sides, then `base`, `here` and `ratio`
(here divided by base) of each number that differs, and from three rounds on the 95 % `interval` of
that ratio. The figure "whole run" is the CPU seconds of the benchmark and of all its processes.
--save keeps them in benchmarks/results, as compare-batch.jsonl, with the name of REV.
"""

import argparse
import json
import os
import resource
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from common.arguments import RESULTS
from common.comparing import Row, compared, figures

HERE = Path(__file__).resolve().parents[1]


def main() -> None:
    asked = arguments()
    base = git("rev-parse", "--short", f"{asked.base}^{{commit}}")
    with other_tree(base) as tree:
        for benchmark in asked.benchmarks:
            name, *options = shlex.split(benchmark)
            runner = tree if asked.own else HERE
            for sides in ((runner, tree), (HERE, HERE)):
                run(name, options, *sides)
            pairs = [
                (run(name, options, runner, tree), run(name, options, HERE, HERE))
                for _ in range(asked.rounds)
            ]
            rows = compared([there for there, _ in pairs], [here for _, here in pairs])
            lines = [json.dumps({**row, "revision": base, "rounds": asked.rounds}) for row in rows]
            print("\n".join(lines), flush=True)
            if asked.save:
                RESULTS.mkdir(exist_ok=True)
                (RESULTS / f"compare-{name}.jsonl").write_text("\n".join([*lines, ""]))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("benchmarks", nargs="+", help="names, each with its arguments")
    parser.add_argument("--base", required=True, metavar="REV", help="the other revision")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--own", action="store_true", help="each side runs its own benchmark")
    parser.add_argument("--save", action="store_true")
    asked = parser.parse_args()
    if asked.rounds < 1:
        parser.error(f"--rounds: expected at least 1, found {asked.rounds}")
    for benchmark in asked.benchmarks:
        if "--save" in shlex.split(benchmark):
            parser.error("--save: expected it for the comparison, found it for a benchmark")
    return asked


def run(name: str, options: list[str], runner: Path, sources: Path) -> list[Row]:
    """Runs a benchmark of one tree on the sources of another, or of its own."""
    command = [sys.executable, str(runner / "benchmarks" / f"{name}.py"), *options]
    before = _cpu_of_children()
    done = subprocess.run(
        command,
        cwd=runner,
        env=os.environ | {"PYTHONPATH": str(sources / "src")},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds = round(_cpu_of_children() - before, 3)
    whole = {"figure": "whole run", "benchmark": shlex.join([name, *options])}
    return [*figures(done.stdout.splitlines()), {**whole, "cpu_seconds": seconds}]


def _cpu_of_children() -> float:
    """Return the CPU seconds of all processes that were started from here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextmanager
def other_tree(revision: str) -> Iterator[Path]:
    """The files of a revision in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="shortlist-") as scratch:
        tree = Path(scratch, "base")
        git("worktree", "add", "--detach", str(tree), revision)
        try:
            yield tree
        finally:
            git("worktree", "remove", "--force", str(tree))


def git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=HERE, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip()


if __name__ == "__main__":
    main()
