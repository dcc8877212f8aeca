"""Which subscriptions does a film match? Shortlist's index beside scans and joins of the same.

Run: python benchmarks/matching.py [--sizes 10000,100000,1000000] [--mixes ranges,selective]
     [--films 58788] [--data FOLDER] [--skip spark] [--out FOLDER] [--quick]

Films are IMDB's if their file is in the folder, else generated ones. Every engine has one core,
whose seconds count, and the best of several runs; only the jobs on Spark have two, and take the
time that goes by. Every answer is compared with another engine's. Prints one JSON line per
figure, then tables; `--out` keeps the lines and a picture in a folder.
"""

import argparse
from pathlib import Path

from common.arguments import DATA, filled, names
from common.goals import GOALS
from common.measuring import GROWING, SKIPPABLE, SPEEDS, USUAL, Measuring
from common.mixes import MIXES
from common.movies import COUNT, read_movies
from common.picture import draw
from common.report import Report
from rich.console import Console

from shortlist.progress import Steps
from shortlist.unused import collect_seldom

THOROUGH = {"sizes": [10_000, USUAL, 1_000_000], "films": COUNT, "patience": 3.0}
QUICK = {"sizes": [2_000, 10_000], "films": 5_000, "patience": 0.3}


def main() -> None:
    asked = arguments()
    collect_seldom()  # as the program does
    movies = read_movies(asked.data).first(asked.films)
    report = Report(data=movies.origin)
    steps = Steps(Console(stderr=True))
    measuring = Measuring(movies, report, steps, frozenset(asked.skip), asked.patience)
    for mix in asked.mixes:
        measuring.check(mix)
    for size in asked.sizes:
        for mix in asked.mixes:
            if size <= USUAL or mix in GROWING:
                measuring.matching(mix, size)
    for mix in asked.mixes:
        measuring.growth(mix)
    if "spark" not in asked.skip:
        measuring.end_to_end(min(USUAL, max(asked.sizes)))
    if asked.out is not None:
        asked.out.mkdir(exist_ok=True)
        report.write(asked.out / "matching.jsonl")
        draw(report, asked.out / "matching.png")
    report.show([SPEEDS], GOALS)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=_sizes, help="how many subscriptions, comma-separated")
    parser.add_argument("--mixes", type=names(MIXES), default=list(MIXES), help=", ".join(MIXES))
    parser.add_argument("--films", type=int, help="how many of them at most")
    parser.add_argument("--data", type=Path, default=DATA, help="a folder with IMDB's films")
    parser.add_argument("--skip", type=names(SKIPPABLE), default=[], help=", ".join(SKIPPABLE))
    parser.add_argument("--out", type=Path, help="keep figures and picture, as benchmarks/results")
    parser.add_argument("--quick", action="store_true", help="small sizes, few films, fewer runs")
    return filled(parser.parse_args(), QUICK, THOROUGH)


def _sizes(text: str) -> list[int]:
    return sorted(int(size) for size in text.split(","))


if __name__ == "__main__":
    main()
