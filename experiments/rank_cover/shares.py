"""Shares of subscriptions that reach the publisher's broker, by the overlay's rules."""

from __future__ import annotations

from functools import partial
from statistics import mean
from typing import TYPE_CHECKING, Any

from experiments.picture import draw_paper
from shortlist.experiments.picture import draw_lines
from shortlist.overlay.cover_shares import cover_shares, drawn_intervals

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from shortlist.experiments.run import Run

REGULAR, ANCESTOR = "RegularCover", "AncestorCoverK"
CHAIN, ARRIVED, SHORTEST = (
    "RankCoverK, longest chain",
    "RankCoverK, first arrived",
    "RankCoverK, shortest path",
)
RULES = {
    REGULAR: "regular_cover",
    ANCESTOR: "ancestor_cover",
    CHAIN: "rank_cover",
    ARRIVED: "rank_cover_first_arrived",
    SHORTEST: "rank_cover_shortest_path",
}
LOW_KS = [*range(1, 11)]
DRAWS = 5
"""Of as many subscriptions; a quick look has one."""
PERCENTS = (0.1, 0.5, 1, 2, 5, 10)
"""Of all subscriptions: how many a publisher reaches."""


def percents(
    run: Run, count: int, ks: list[int], sizes: tuple[float, float] = (0.3, 0.6), draw: int = 0
) -> dict[str, list[float]]:
    """By rule, how many of a hundred subscriptions it forwards for each k."""
    ranges = drawn_intervals(count, run.draws("intervals", count, sizes, draw), sizes)
    shares = cover_shares(ranges, ks)
    return {name: [100 * getattr(share, rule) for share in shares] for name, rule in RULES.items()}


def k_of(percent: float, count: int) -> int:
    """
    >>> k_of(0.1, 50_000)
    50
    """
    return max(1, round(percent * count / 100))


def low_k_measures(run: Run, count: int) -> dict[str, Any]:
    """Figures 5 (a) and (b): every rule for k from 1 to 10, and from where all is forwarded.

    Depth in a tree depends on who comes first, so these are means of several draws.
    """
    ks = [*range(1, 201)]
    drawn = [
        run.point(f"{count} subscriptions, {draw}", partial(percents, run, count, ks, draw=draw))
        for draw in range(run.pick(full=DRAWS, quick=1))
    ]
    measures: dict[str, Any] = {"k": LOW_KS, "subscriptions": count}
    for name in RULES:
        forwarded = [found[name] for found in drawn]
        means = [mean(at_k) for at_k in zip(*forwarded, strict=True)]
        measures[name] = means[: len(LOW_KS)]
        at_ten = [each[ks.index(10)] for each in forwarded]
        measures[f"{name} at k = 10"] = mean(at_ten)
        measures[f"{name} at k = 10, least and most"] = [min(at_ten), max(at_ten)]
        if all(100.0 in each for each in forwarded):
            measures[f"{name}, all from k"] = mean(ks[each.index(100.0)] for each in forwarded)
    measures["at k = 1"] = [measures[name][0] for name in (CHAIN, ARRIVED, SHORTEST)]
    return measures


def draw_low_k(measures: Any, canvas: Canvas, papers: dict[int, float]) -> None:
    axes = canvas.subplots()
    draw_lines(axes, measures["k"], {name: measures[name] for name in RULES})
    draw_paper(axes, [*papers], [*papers.values()])
    axes.set_xlabel("k of the publisher")
    axes.set_ylabel(f"forwarded of {measures['subscriptions']:,} subscriptions in percent")
    axes.set_ylim(bottom=0)
    canvas.legend(loc="outside right center")
