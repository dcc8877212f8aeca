"""The picture: how speed falls with the number of subscriptions, and what the mixes cost."""

from pathlib import Path
from typing import Any

from .report import Report

INK = "#22333b"
ENGINES = {
    "index": ("Shortlist's index", "#1f7a8c"),
    "numpy": ("NumPy scan", "#e09f3e"),
    "duckdb": ("DuckDB join", "#9a8c98"),
}
JOBS = {
    "seconds": ("Shortlist on Spark, 2 cores, written", "#1f7a8c"),
    "plain_join_seconds": ("Spark SQL join, 2 cores, written", "#c0504d"),
}
MIX = "selective"


def draw(report: Report, file: Path) -> None:
    """Writes a PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 5.2), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    growth, mixes = figure.subplots(1, 2)
    _draw_growth(growth, report)
    _draw_mixes(mixes, report)
    figure.savefig(file, dpi=130)


def _draw_growth(axes: Any, report: Report) -> None:
    if not report.of({"figure": "matching", "mix": MIX}):
        axes.set_axis_off()
        return
    for engine, (label, colour) in ENGINES.items():
        rows = report.of({"figure": "matching", "engine": engine, "mix": MIX})
        speeds = [row["publications_per_second"] for row in rows]
        axes.plot([row["subscriptions"] for row in rows], speeds, "o-", color=colour, label=label)
    for row in report.of({"figure": "end to end"}):
        for key, (label, colour) in JOBS.items():
            speed = row["publications"] / row[key]
            axes.plot(row["subscriptions"], speed, "D", mfc="white", color=colour, label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("subscriptions", color=INK)
    axes.legend(frameon=False, fontsize=9)
    axes.set_title(f"Publications/s on one core, {MIX} mix", loc="left", color=INK)
    plain(axes, axes.xaxis, axes.yaxis)


def _draw_mixes(axes: Any, report: Report) -> None:
    """Of the largest size that all mixes have."""
    rows = report.of({"figure": "matching"})
    mixes = list(dict.fromkeys(row["mix"] for row in rows))
    size = min(max(row["subscriptions"] for row in rows if row["mix"] == mix) for mix in mixes)
    for engine, (_, colour) in ENGINES.items():
        chosen = report.of({"figure": "matching", "engine": engine, "subscriptions": size})
        speeds = [row["pairs_per_second"] for row in chosen]
        axes.plot(speeds, [mixes.index(row["mix"]) for row in chosen], "o", ms=9, color=colour)
    axes.set_xscale("log")
    axes.set_yticks(range(len(mixes)), mixes)
    axes.set_ylim(len(mixes) - 0.5, -0.5)
    axes.set_title(f"Pairs decided a second, {size:,} subscriptions", loc="left", color=INK)
    plain(axes, axes.xaxis)


def plain(axes: Any, *scales: Any) -> None:
    """Few lines; numbers on these scales have prefixes such as k and M."""
    from matplotlib.ticker import EngFormatter

    for scale in scales:
        scale.set_major_formatter(EngFormatter())
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(colors=INK)
    axes.grid(visible=True, color="#e8edf0")
    axes.set_axisbelow(True)
