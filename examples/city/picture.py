"""The picture: how much matched and how much was delivered, over time and by policy."""

from pathlib import Path
from typing import Any

from examples.city.outcome import Outcome

PALE, STRONG, INK = "#c9d6df", "#1f7a8c", "#22333b"


def draw(outcome: Outcome, file: Path) -> None:
    """Writes a PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 7.5), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    over_time, by_policy = figure.subplots(2, 1, height_ratios=(1.0, 1.15))
    matches, deliveries = outcome.report["matched"], outcome.report["deliveries"]
    title = f"{matches:,} matches, {deliveries:,} deliveries: a shortlist is what remains"
    figure.suptitle(title, x=0.01, ha="left", fontsize=14, color=INK, weight="bold")
    _draw_hours(over_time, outcome)
    _draw_policies(by_policy, outcome)
    figure.savefig(file, dpi=130)


def _draw_hours(axes: Any, outcome: Outcome) -> None:
    from matplotlib.dates import DateFormatter, HourLocator

    hours = outcome.by_hour()
    for column, colour, label in (
        ("matches", PALE, "matched"),
        ("deliveries", STRONG, "delivered"),
    ):
        axes.fill_between(hours.index, hours[column], step="post", color=colour, label=label)
    axes.set_xlim(outcome.matches["time"].min(), outcome.matches["time"].max())
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(HourLocator(12))
    axes.xaxis.set_major_formatter(DateFormatter("%a %d %b"))
    axes.set_ylabel("per hour", color=INK)
    axes.legend(frameon=False, loc="upper left", ncols=2)
    _plain(axes, axes.yaxis)


def _draw_policies(axes: Any, outcome: Outcome) -> None:
    counts = outcome.by_policy()[::-1]
    places = range(len(counts))
    axes.barh(places, [count.matches for count in counts], color=PALE, height=0.7)
    axes.barh(places, [count.deliveries for count in counts], color=STRONG, height=0.7)
    for place, count in zip(places, counts, strict=True):
        text = f"  {count.deliveries:,} of {count.matches:,} ({count.share:.0%})"
        axes.annotate(text, (count.matches, place), va="center", fontsize=9, color=INK)
    axes.set_yticks(places, [count.name for count in counts])
    axes.set_xlim(right=max(count.matches for count in counts) * 1.2 + 1)
    axes.set_xlabel("matched and delivered in the whole week, by policy", color=INK)
    _plain(axes, axes.xaxis)


def _plain(axes: Any, numbers: Any) -> None:
    from matplotlib.ticker import StrMethodFormatter

    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(length=0, colors=INK)
    axes.set_axisbelow(True)
    numbers.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    numbers.grid(visible=True, color="#e8edf0")
