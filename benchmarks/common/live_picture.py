"""The picture of a live deployment: how long deliveries take, and what a change costs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .picture import INK, plain
from .report import Report

BLUE, ORANGE, GREY = "#1f7a8c", "#e09f3e", "#9a8c98"


def draw(report: Report, latencies: Sequence[float], file: Path) -> None:
    """Writes a PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4.6), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    delays, changes = figure.subplots(1, 2)
    _draw_delays(delays, report, latencies)
    _draw_changes(changes, report)
    figure.savefig(file, dpi=130)


def _draw_delays(axes: Any, report: Report, latencies: Sequence[float]) -> None:
    (row,) = report.of({"figure": "publish to delivery"})
    ordered = sorted(latencies)
    shares = [100 * (place + 1) / len(ordered) for place in range(len(ordered))]
    axes.plot(ordered, shares, color=BLUE, lw=2)
    for name, share in (("p50_seconds", 50), ("p99_seconds", 99)):
        axes.plot([row[name]], [share], "o", color=ORANGE, ms=8)
        axes.annotate(
            f"{share} % within {row[name]:.2f} s",
            (row[name], share),
            xytext=(10, -12),
            textcoords="offset points",
            color=INK,
        )
    axes.set_xlim(0, ordered[-1] * 1.15)
    axes.set_xlabel("seconds from publication to delivery, both durable in the log", color=INK)
    axes.set_ylabel("% of deliveries at arrival", color=INK)
    axes.set_title(
        f"{row['rate']:,.0f} publications a second, {row['subscriptions']:,} subscriptions",
        loc="left",
        color=INK,
    )
    plain(axes, axes.yaxis)


def _draw_changes(axes: Any, report: Report) -> None:
    rows = sorted(report.of({"figure": "cost of a change"}), key=lambda row: row["touched"])
    some = [row for row in rows if row["touched"]]
    axes.plot(
        [row["touched"] for row in some],
        [row["bytes_written"] / 1000 for row in some],
        "o-",
        color=BLUE,
        label="what a batch writes, its deliveries included",
    )
    whole = rows[0]["whole_state_bytes"] / 1000
    axes.axhline(whole, color=GREY, ls="--", label="the whole state")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(f"shortlists that change, of {rows[0]['shortlists']:,}", color=INK)
    axes.set_ylabel("kB", color=INK)
    axes.set_title("State is written in proportion to what changed", loc="left", color=INK)
    axes.legend(frameon=False, fontsize=9)
    plain(axes, axes.yaxis)
