"""A publisher's declaration: what it will publish, and how many it wants to reach."""

from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict

from shortlist.model.fields import DOCUMENT, Count, Id, Text
from shortlist.model.subscription import Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Advertisement:
    """Publications of `source` inside `where` go to the `k` best shortlists by `score`."""

    __pydantic_config__: ClassVar[ConfigDict] = DOCUMENT

    id: Id
    source: Id
    where: Text | None = None
    k: Count
    score: Score = "subscription.score"
