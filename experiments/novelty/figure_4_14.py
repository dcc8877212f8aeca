"""The real news itself: how popular each desk is, and when each is active."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from experiments.novelty.drawing import AXIS
from experiments.novelty.measuring import ENTROPY, measured
from experiments.novelty.news import News, read_news
from experiments.novelty.shortlists import EVERYTHING, deliver
from experiments.novelty.streams import PERIOD
from experiments.picture import draw_bars
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def measure(run: Run) -> Measures:
    news = read_news(run)
    found = run.point("popularity and activity", lambda: _found(run, news))
    return {
        "desk": news.desks,
        "tweets": float(news.stream.size),
        "desks": float(len(news.desks)),
        **found,
    }


def _found(run: Run, news: News) -> dict[str, Any]:
    """Whatever comes in matches one desk; everything is delivered."""
    got = deliver(
        run, news.stream, {"all": EVERYTHING}, news.wheres, publications=news.publications
    )["all"]
    desks = len(news.desks)
    shares = np.bincount(got.kinds, minlength=desks) / got.kinds.size
    activity = by_period(got.kinds, desks)
    skew, fit = zipf_fit(shares)
    shuffled = run.draws("shuffled").permutation(got.kinds)
    return {
        "popularity": shares.tolist(),
        "Zipf skew": skew,
        "fit": fit,
        "input entropy": measured(got, got.kinds.size, desks)[ENTROPY],
        "busiest period": float((activity / activity.mean(axis=0)).max()),
        "quietest period": float((activity / activity.mean(axis=0)).min()),
        "activity": activity.ravel().tolist(),
        "off the whole": off_the_whole(got.kinds, desks),
        "off the whole, shuffled": off_the_whole(shuffled, desks),
    }


def zipf_fit(shares: npt.NDArray[np.float64]) -> tuple[float, float]:
    """The skew of the Zipf distribution next to these shares, and the R² of its logarithm.

    >>> zipf_fit(np.array([0.6, 0.3, 0.2, 0.15]))
    (1.0, 1.0)
    """
    ranks, values = np.log(np.arange(1, shares.size + 1)), np.log(shares)
    slope, start = np.polyfit(ranks, values, 1)
    left = values - (start + slope * ranks)
    fit = 1 - left @ left / ((values - values.mean()) @ (values - values.mean()))
    return round(-float(slope), 9), round(float(fit), 9)


def by_period(kinds: npt.NDArray[np.int64], desks: int) -> npt.NDArray[np.int64]:
    """How many of each desk there are in each whole period."""
    return np.array(
        [
            np.bincount(kinds[start : start + PERIOD], minlength=desks)
            for start in range(0, kinds.size - PERIOD + 1, PERIOD)
        ]
    )


def off_the_whole(kinds: npt.NDArray[np.int64], desks: int) -> float:
    """Which share of a period would have to be of other desks for it to be as the whole, in the
    mean over periods."""
    shares = by_period(kinds, desks) / PERIOD
    whole = np.bincount(kinds, minlength=desks) / kinds.size
    return float(np.abs(shares - whole).sum(axis=1).mean() / 2)


def draw(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    found: Any = measures
    desks = found["desk"]
    popular, active = canvas.subplots(1, 2)
    draw_bars(popular, desks, {"share": found["popularity"]}, horizontal=True)
    popular.set_xlabel("share of all tweets")
    popular.set_ylabel("news desk")
    popular.set_ylim(len(desks) - 0.5, -0.5)
    activity = np.array(found["activity"]).reshape(-1, len(desks)).T
    image = active.imshow(activity, aspect="auto", cmap="Greys", interpolation="none")
    active.grid(visible=False)
    periods = range(activity.shape[1])
    active.set_xticks(periods, [str(each + 1) for each in periods])
    active.set_yticks(range(len(desks)), [""] * len(desks))
    active.set_xlabel(AXIS)
    canvas.colorbar(image, ax=active, label="tweets in the period")
    canvas.suptitle(figure.title)
