"""All five ideas on one workload: what each policy saves, and what users keep.

See `films` for the workload. Every policy gets the same movies for the same subscriptions; single
policies are set to deliver about a fifth of what matches, chosen by their traffic alone, so that
what they keep can be compared. `by chance` delivers a fifth without looking.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from experiments.combined.films import Films
from experiments.combined.picture import draw_marks, draw_table
from experiments.combined.quality import Judge, Quality
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.ranking import Ranked
from shortlist.experiments.run import Run
from shortlist.measures.spread import traffic_saved

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

EVERYTHING = {"kind": "everything"}
WINDOW = {"kind": "window", "k": 5, "window": "1h"}
NOVELTY = {"kind": "novelty", "rate": 0.2, "period": 100}
HALF_OF_IT = {"kind": "novelty", "rate": 0.5, "period": 100}
OVER = {"decade": None, "genre": None}
CERTAIN = "acclaimed is good (necessity >= 0.45)"
AUDIENCE = 0.135
"""The share of all users that a movie may reach."""
WIDER_AUDIENCE = 0.4


class Setup(NamedTuple):
    """What is set differently from Boolean matching."""

    policy: object = EVERYTHING
    condition: str = ""
    audience: float | None = None


SINGLE = {
    "by chance": Setup({**NOVELTY, "algorithm": "random"}),
    "top-k": Setup({"kind": "top-k", "k": 5, "refresh": "1h"}),
    "window": Setup(WINDOW),
    "fresh": Setup({"kind": "fresh", "k": 5, "window": "2h", "half_life": "12h"}),
    "digest": Setup({"kind": "digest", "k": 8, "every": "1h"}),
    "diverse": Setup({"kind": "diverse", "k": 5, "window": "1h", "over": OVER, "weight": 0.5}),
    "novelty": Setup(NOVELTY),
    "audience": Setup(audience=AUDIENCE),
    "fuzzy": Setup(condition=CERTAIN),
}
CHAINS = {
    "window → novelty": Setup([WINDOW, HALF_OF_IT]),
    "fuzzy → top-k": Setup({"kind": "top-k", "k": 2, "refresh": "1h"}, CERTAIN),
    "audience → window": Setup({**WINDOW, "k": 2}, audience=WIDER_AUDIENCE),
    "all five": Setup(
        [WINDOW, {"kind": "top-k", "k": 3, "refresh": "2h"}, HALF_OF_IT], CERTAIN, WIDER_AUDIENCE
    ),
}


def measure(run: Run) -> Measures:
    films = Films.of(run)
    publications = films.publications(run)
    judge = Judge.of(films)
    users = len({rating.user for rating in films.known})

    def ranked(setup: Setup) -> Ranked:
        audience = None if setup.audience is None else max(1, round(setup.audience * users))
        return run.rank(films.registry(setup.policy, setup.condition, audience), publications)

    def everything() -> dict[str, Any]:
        all_matches = ranked(Setup())
        means = judge.matched_means(all_matches)
        favourites = judge.matched_favourites(all_matches)
        quality = judge.quality(all_matches, means, favourites)
        return {"quality": quality, "means": means, "favourites": favourites}

    base = run.point("everything", everything)

    def judged(setup: Setup) -> Quality:
        return judge.quality(ranked(setup), base["means"], base["favourites"])

    found = {"everything": Quality(*base["quality"])} | {
        name: Quality(*run.point(name, partial(judged, setup)))
        for name, setup in {**SINGLE, **CHAINS}.items()
    }
    return _table(found) | _by_policy(found)


def draw(measures: Mapping[str, Any], canvas: Canvas, figure: Figure) -> None:
    canvas.set_size_inches(8.5, 8.2)
    canvas.suptitle(figure.title, fontsize=11, fontweight="bold")
    above, below = canvas.subplots(2, 1, height_ratios=[1.35, 1])
    draw_marks(measures, above, {*CHAINS})
    draw_table(measures, below, {*CHAINS})


def _table(found: Mapping[str, Quality]) -> dict[str, float | list[float] | list[str]]:
    """A column each, in the order of policies."""
    matched = found["everything"].delivered
    qualities = [*found.values()]
    return {
        "policy": [*found],
        "saved": [traffic_saved(matched, each.delivered) for each in qualities],
        **{name: [float(getattr(each, name)) for each in qualities] for name in Quality._fields},
    }


def _by_policy(found: Mapping[str, Quality]) -> dict[str, float | list[float] | list[str]]:
    """Single numbers, which claims are about."""
    matched = found["everything"].delivered
    measures: dict[str, float | list[float] | list[str]] = {}
    for name, each in found.items():
        measures[f"{name}: saved"] = traffic_saved(matched, each.delivered)
        measures[f"{name}: gain"] = each.gain
        measures[f"{name}: variety"] = each.variety
        measures[f"{name}: favourites"] = each.favourites
    return measures
