"""The picture of selection: windows beside baselines, their growth, errors, other policies."""

from pathlib import Path
from typing import Any

from .picture import INK, plain
from .report import Report, Row

BLUE, ORANGE, GREY, RED = "#1f7a8c", "#e09f3e", "#9a8c98", "#c0504d"
ENGINES = {
    "bank": ("Shortlist's windows", BLUE),
    "candidate list": ("candidate list in numba", ORANGE),
    "sorted list": ("sorted list in Python", GREY),
    "duckdb": ("DuckDB's window function", RED),
}
GROWTH = {
    "k": ("k", "k from {} to {}", BLUE),
    "window": ("window_minutes", "window from {} to {} minutes", ORANGE),
    "subscriptions": ("subscriptions", "{} to {} subscriptions", RED),
}


def draw(report: Report, file: Path) -> None:
    """Writes a PNG; what was not measured stays empty."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 9), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    ((windows, growth), (errors, room)) = figure.subplots(2, 2)
    _draw_windows(windows, report)
    _draw_growth(growth, report)
    _draw_errors(errors, report)
    _draw_room(room, report)
    figure.savefig(file, dpi=130)


def _draw_windows(axes: Any, report: Report) -> None:
    rows = report.of({"figure": "windows"})
    names = list(dict.fromkeys(_name(row) for row in rows))
    for engine, (label, colour) in ENGINES.items():
        chosen = [row for row in rows if row["engine"] == engine]
        speeds = [row["pairs_per_second"] for row in chosen]
        places = [names.index(_name(row)) for row in chosen]
        axes.plot(speeds, places, "o", ms=9, color=colour, label=label)
    axes.set_xscale("log")
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) + 0.3, -0.5)
    axes.legend(frameon=False, fontsize=9, loc="lower left", ncols=2)
    axes.set_title("Windows: pairs a second on one core", loc="left", color=INK)
    plain(axes, axes.xaxis)


def _name(row: Row) -> str:
    return f"{row['data']}, k = {row['k']}"


def _draw_growth(axes: Any, report: Report) -> None:
    """Both axes count from the smallest setting."""
    for grows, (fact, label, colour) in GROWTH.items():
        rows = report.of({"figure": "window growth", "grows": grows})
        if not rows:
            continue
        sizes, seconds = ([row[key] for row in rows] for key in (fact, "core_seconds"))
        axes.plot(
            [size / sizes[0] for size in sizes],
            [each / seconds[0] for each in seconds],
            "o-",
            color=colour,
            label=label.format(sizes[0], sizes[-1]),
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xlabel("times the size", color=INK)
    axes.set_ylabel("times the seconds", color=INK)
    axes.legend(frameon=False, fontsize=9)
    axes.set_title("Windows: growth", loc="left", color=INK)
    plain(axes, axes.xaxis, axes.yaxis)


def _draw_errors(axes: Any, report: Report) -> None:
    rows = report.of({"figure": "probabilistic"})
    names = [f"{row['error']:g}" if row["error"] else "exact" for row in rows]
    for at, row in enumerate(rows):
        axes.barh(at - 0.2, row["most_rows"], 0.35, color=GREY, label="most" if not at else None)
        axes.barh(at + 0.2, row["mean_rows"], 0.35, color=BLUE, label="mean" if not at else None)
        measured = f"  measured {row['measured_error']:.1e}" if row["error"] else ""
        axes.text(row["most_rows"], at - 0.2, measured, va="center", color=INK, fontsize=9)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.margins(x=0.4)
    axes.legend(frameon=False, fontsize=9, loc="lower right")
    axes.set_title("Windows: rows each by the error allowed", loc="left", color=INK)
    plain(axes)


def _draw_room(axes: Any, report: Report) -> None:
    windows = report.of({"figure": "window growth", "grows": "k"})
    rooms = {f"window, k = {row['k']}": row["bytes_per_subscription"] for row in windows}
    crowds = report.of({"figure": "crowds", "engine": "bank"})
    rooms |= {row["policy"]: row["bytes_per_shortlist"] for row in crowds}
    axes.barh(range(len(rooms)), rooms.values(), 0.6, color=BLUE)
    for at, room in enumerate(rooms.values()):
        axes.text(room, at, f" {room:,.0f}", va="center", color=INK, fontsize=9)
    axes.set_yticks(range(len(rooms)), rooms)
    axes.set_ylim(len(rooms) - 0.5, -0.5)
    axes.margins(x=0.12)
    axes.set_title("Bytes each shortlist takes", loc="left", color=INK)
    plain(axes)
