"""The picture of large registries: time and bytes for each subscription, from ten thousand on."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .picture import INK, plain
from .report import Report, Row

BLUE, ORANGE, GREEN, GREY = "#1f7a8c", "#e09f3e", "#6a994e", "#9a8c98"


def draw(report: Report, file: Path) -> None:
    """Writes a PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4.6), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    times, sizes = figure.subplots(1, 2)
    opened = report.of({"figure": "opened"})
    for processes, colour in ((1, GREY), (report.rows[0]["cores"], BLUE)):
        some = {"figure": "compiled", "on": "process", "processes": processes}
        label = f"compiled by {processes} process{'es' * (processes > 1)}"
        _line(times, report.of(some), "seconds", colour, label)
    _line(times, opened, "open_seconds", ORANGE, "opened")
    _title(times, "Seconds", "seconds")
    times.set_yscale("log")
    _line(sizes, opened, "file_bytes_each", BLUE, "bytes of the file, which all processes share")
    _line(sizes, opened, "private_bytes_each", ORANGE, "bytes of one process's own")
    label = "microseconds of matching a flat, 50 matches"
    _line(sizes, opened, "microseconds_each", GREEN, label)
    _title(sizes, "Bytes for each subscription, and time for each flat", "")
    sizes.set_yscale("log")
    figure.savefig(file, dpi=130)


def _line(axes: Any, rows: Sequence[Row], fact: str, colour: str, label: str) -> None:
    some = sorted((row["subscriptions"], row[fact]) for row in rows)
    axes.plot(*zip(*some, strict=True), "o-", color=colour, lw=2, label=label)


def _title(axes: Any, title: str, unit: str) -> None:
    axes.set_xscale("log")
    axes.set_xlabel("subscriptions", color=INK)
    axes.set_ylabel(unit, color=INK)
    axes.set_title(title, loc="left", color=INK)
    axes.legend(frameon=False, fontsize=9)
    plain(axes, axes.yaxis)
