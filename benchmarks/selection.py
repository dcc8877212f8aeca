"""Who gets it? Shortlist's policies in bulk beside plain ones, lists, NumPy and DuckDB.

Run: python benchmarks/selection.py [--publications 1000000] [--subscriptions 400]
     [--shortlists 1000000] [--candidates 1000000] [--films 20000]
     [--parts windows,crowds,audiences,engines] [--data FOLDER] [--out FOLDER] [--quick]

Windows are measured in the setting of the paper on top-k/w: points in four dimensions, 1,000 a
minute, of which each subscription gets the 9 nearest to a point within 40 minutes. Points are
uniform, in ten Gaussian clusters, or what sensors measured, if their file is in the folder. Every
engine has one core, whose seconds count. Baselines are timed on a part, which their figures state,
and must place the same. Prints one JSON line per figure, then tables; `--out` keeps the lines and a
picture in a folder.
"""

import argparse
from pathlib import Path

import common.checkout  # noqa: F401
from common.arguments import DATA, filled, names
from common.audiences import AudienceFigures
from common.crowd_figures import SETTINGS, CrowdFigures
from common.crowds import Crowd
from common.engines import EngineFigures
from common.report import Report
from common.selection_goals import GOALS, SHEETS
from common.selection_picture import draw
from common.streams import streams
from common.window_figures import WindowFigures
from common.windows import warm
from rich.console import Console

from shortlist.progress import Steps

THOROUGH = {
    "publications": 1_000_000,
    "subscriptions": 400,
    "shortlists": 1_000_000,
    "candidates": 1_000_000,
    "films": 20_000,
    "patience": 1.0,
}
QUICK = {
    "publications": 60_000,
    "subscriptions": 40,
    "shortlists": 20_000,
    "candidates": 20_000,
    "films": 4_000,
    "patience": 0.1,
}
MATCHES_EACH = 20
AUDIENCE = 100
ENGINE_SHORTLISTS = 1_000
PLAIN_FILMS = 500


def main() -> None:
    asked = arguments()
    report, steps = Report(), Steps(Console(stderr=True))
    for part in asked.parts:
        PARTS[part](asked, report, steps)
    if asked.out is not None:
        asked.out.mkdir(exist_ok=True)
        report.write(asked.out / "selection.jsonl")
        draw(report, asked.out / "selection.png")
    report.show(SHEETS, GOALS)


def windows(asked: argparse.Namespace, report: Report, steps: Steps) -> None:
    figures = WindowFigures(report, steps, asked.subscriptions)
    warm()
    known = streams(asked.publications, asked.data)
    for stream in known:
        figures.beside_baselines(stream)
    uniform = known[0]
    figures.best_at_arrival(uniform)
    figures.growth(uniform)
    figures.updates(uniform)
    figures.probabilistic(uniform)


def crowds(asked: argparse.Namespace, report: Report, steps: Steps) -> None:
    figures = CrowdFigures(report, steps, Crowd(asked.shortlists, MATCHES_EACH))
    for name in SETTINGS:
        figures.beside_plain(name)


def audiences(asked: argparse.Namespace, report: Report, steps: Steps) -> None:
    figures = AudienceFigures(report, steps, asked.candidates, AUDIENCE, asked.patience)
    figures.beside_others()


def engines(asked: argparse.Namespace, report: Report, steps: Steps) -> None:
    plain_films = min(PLAIN_FILMS, asked.films)
    EngineFigures(report, steps, ENGINE_SHORTLISTS, asked.films, plain_films).beside_plain()


PARTS = {"windows": windows, "crowds": crowds, "audiences": audiences, "engines": engines}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--publications", type=int, help="that come to windows")
    parser.add_argument("--subscriptions", type=int, help="each with a window")
    parser.add_argument("--shortlists", type=int, help="with the other policies")
    parser.add_argument("--candidates", type=int, help="for the audience of a publication")
    parser.add_argument("--films", type=int, help="that come to whole engines")
    parser.add_argument("--parts", type=names(PARTS), default=list(PARTS), help=", ".join(PARTS))
    parser.add_argument("--data", type=Path, default=DATA, help="a folder with the sensors' file")
    parser.add_argument("--out", type=Path, help="keep figures and picture, as benchmarks/results")
    parser.add_argument("--quick", action="store_true", help="small sizes, fewer runs")
    return filled(parser.parse_args(), QUICK, THOROUGH)


if __name__ == "__main__":
    main()
