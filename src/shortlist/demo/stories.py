"""A few readers' shortlists with their reasons, asked of the engine itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from shortlist.demo.outcome import Outcome
from shortlist.engine.explanation import Question
from shortlist.engine.replay import replay
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription

SHOWN = 3
"""Deliveries per story."""

Explanation = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A publication in a story: what it is, and the engine's reasons, in order of time."""

    data: Mapping[str, Any]
    reasons: Sequence[Explanation]

    @property
    def last(self) -> Explanation:
        return self.reasons[-1]

    @property
    def order(self) -> tuple[float, float, str]:
        """By rank, then by score."""
        rank = self.last.get("rank")
        return (rank or 0, -(self.last.get("score") or 0.0), self.last["time"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """One shortlist: what was asked for, what came last, and one that did not come."""

    shortlist: Shortlist
    subscriptions: Sequence[Subscription]
    matched: int
    delivered: int
    latest: Sequence[Told]
    withheld: Told | None


@dataclass(frozen=True, slots=True)
class _AnyOf(Question):
    """Asks about several publications at once."""

    publications: frozenset[str] = frozenset()

    def is_about(self, publication: Publication) -> bool:
        return publication.id in self.publications


def tell(
    outcome: Outcome,
    registry: Registry,
    publications: Path,
    settings: Settings,
    readers: Iterable[str],
) -> list[Story]:
    """The story of every shortlist of these readers to which something was delivered."""
    wanted = set(readers)
    told = [name for name, each in outcome.shortlists.items() if each.subscriber in wanted]
    received = set(outcome.deliveries["shortlist"])
    offered = outcome.matches[outcome.matches["shortlist"].isin(told)]
    lines = _lines(publications, set(offered["publication"]))
    return [
        _story(outcome, registry, settings, name, lines)
        for name in sorted(told)
        if name in received
    ]


def _story(
    outcome: Outcome, registry: Registry, settings: Settings, name: str, lines: Mapping[str, str]
) -> Story:
    """Only what a shortlist was offered can change it, so only that is replayed."""
    deliveries = outcome.deliveries[outcome.deliveries["shortlist"] == name]
    offered = outcome.matches[outcome.matches["shortlist"] == name]
    in_time = deliveries["time"] <= outcome.matches["time"].max()  # later, windows only empty
    latest = deliveries[in_time]["publication"].tail(SHOWN)
    asked = [*latest, *_passed_over(offered, deliveries)]
    alone = _alone(registry, name)
    question = _AnyOf(shortlist=name, publications=frozenset(asked))
    offers = set(offered["publication"])
    replayed = [line for publication, line in lines.items() if publication in offers]
    explanations = replay(alone, replayed, settings, question).explanations
    told = {
        publication: Told(
            data=json.loads(lines[publication])["data"],
            reasons=[each for each in explanations if each["publication"] == publication],
        )
        for publication in asked
    }
    return Story(
        shortlist=outcome.shortlists[name],
        subscriptions=alone.subscriptions,
        matched=len(offered),
        delivered=len(deliveries),
        latest=sorted((told[publication] for publication in latest), key=lambda each: each.order),
        withheld=told[asked[-1]] if len(asked) > len(latest) else None,
    )


def _passed_over(offered: pd.DataFrame, deliveries: pd.DataFrame) -> list[str]:
    """The last offer that was never delivered, if there is any."""
    never = offered[~offered["publication"].isin(deliveries["publication"])]
    return list(never.sort_values(["time", "publication"])["publication"].tail(1))


def _alone(registry: Registry, shortlist: str) -> Registry:
    """The registry with this shortlist only; what publishers limit was already limited."""
    return replace(
        registry,
        shortlists=tuple(each for each in registry.shortlists if each.id == shortlist),
        subscriptions=tuple(
            each for each in registry.subscriptions if each.shortlist_id == shortlist
        ),
        advertisements=(),
    )


def _lines(publications: Path, names: set[str]) -> dict[str, str]:
    """The lines of these publications, each as it was first accepted."""
    found: dict[str, str] = {}
    with publications.open(encoding="utf-8") as lines:
        for line in lines:
            try:
                name = json.loads(line).get("id")
            except json.JSONDecodeError:
                continue
            if name in names:
                found.setdefault(name, line)
    return found
