"""A publisher's declaration: what it will publish, and how many it wants to reach."""

from dataclasses import dataclass

from shortlist.model.fields import Count, Id, Noun, Text
from shortlist.model.subscription import Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Advertisement(Noun):
    """Publications of `source` inside `where` go to the `k` best shortlists by `score`."""

    id: Id
    source: Id
    where: Text | None = None
    k: Count
    score: Score = "subscription.score"
