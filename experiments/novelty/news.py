"""Real news: the tweets of news agencies' health desks, each desk a subscription.

Of the data set only the time counts when most desks were active, from 2014-10-18 to 2014-12-23.
"""

from __future__ import annotations

from datetime import UTC, datetime
from math import log2
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from experiments.novelty.drawing import draw_over_time
from experiments.novelty.measuring import DEVIATION, ENTROPY, ends_of_stretches, in_all, over_time
from experiments.novelty.shortlists import EVERYTHING, Settings, deliver, variants
from experiments.novelty.streams import Kinds
from experiments.novelty.synthetic import VARIANTS
from shortlist.experiments.claims import Measures
from shortlist.experiments.papers import Figure
from shortlist.experiments.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

DATA = "health_news_tweets"
FROM, UNTIL = datetime(2014, 10, 18, tzinfo=UTC), datetime(2014, 12, 24, tzinfo=UTC)
STRETCHES = 8
SHORTER = 500
"""A period of which there are as many here as the paper has, 16 in place of 17."""
AGING = 0.1
"""Of the variants by interval."""


class News(NamedTuple):
    """Desks, the most active first, and the tweets; the kind of a tweet is the number of its desk.

    Ids of tweets are their places.
    """

    desks: list[str]
    stream: Kinds
    publications: pa.Table

    @property
    def wheres(self) -> list[str]:
        return [f"event.source = '{desk}'" for desk in self.desks]


def read_news(run: Run) -> News:
    tweets = run.data(DATA)
    time = tweets["created_at"]
    within = pc.and_(pc.greater_equal(time, pa.scalar(FROM)), pc.less(time, pa.scalar(UNTIL)))
    tweets = tweets.filter(within)
    desks, counts = np.unique(tweets["source"].to_numpy(), return_counts=True)
    by_activity = desks[np.argsort(-counts, kind="stable")].tolist()
    numbers = {desk: number for number, desk in enumerate(by_activity)}
    publications = pa.table(
        {
            "id": pa.array(np.arange(len(tweets)).astype(str)),
            "source": tweets["source"],
            "time": tweets["created_at"],
        }
    )
    stream = np.array([numbers[desk] for desk in tweets["source"].to_pylist()])
    return News(by_activity, stream, publications)


def four_variants_of_news(run: Run, algorithm: str) -> dict[str, Any]:
    """Their measures, in all and over time; beside them what came in."""

    def found() -> dict[str, Any]:
        policies = {
            **aged_variants(algorithm),
            **{
                f"{name}, period {SHORTER}": {**policy, "period": SHORTER}
                for name, policy in aged_variants(algorithm).items()
            },
            "everything": EVERYTHING,
        }
        shortlists = deliver(
            run, news.stream, policies, news.wheres, publications=news.publications
        )
        count, desks = news.stream.size, len(news.desks)
        return {
            **in_all(shortlists, count, desks),
            **over_time(shortlists, count, desks, STRETCHES),
        }

    news = read_news(run)
    return {
        "period": ends_of_stretches(news.stream.size, stretches=STRETCHES),
        **run.point(algorithm, found),
        "desks": float(len(news.desks)),
        "tweets": float(news.stream.size),
    }


def aged_variants(algorithm: str) -> dict[str, Settings]:
    """
    >>> aged_variants("threshold")["eager interval"]["aging"]
    0.1
    """
    return {
        name: {**policy, "aging": AGING} if policy["measure"] == "interval" else policy
        for name, policy in variants(algorithm).items()
    }


def draw_news(measures: Measures, canvas: Canvas, figure: Figure) -> None:
    best: Any = measures["desks"]
    ideal = {ENTROPY: log2(best), DEVIATION: 0.0}
    draw_over_time(measures, canvas, figure, VARIANTS, (ENTROPY, DEVIATION), ideal)
