"""A few readers' shortlists with their reasons, asked of the engine itself."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from examples.city.outcome import Outcome
from shortlist.engine.explanation import Question
from shortlist.engine.replay import replay
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription

SHOWN = 3
"""Deliveries per story."""


class Told(NamedTuple):
    """A publication in a story: what it is, and the engine's reasons, in order of time."""

    data: Mapping[str, Any]
    reasons: Sequence[Mapping[str, Any]]

    @property
    def last(self) -> Mapping[str, Any]:
        return self.reasons[-1]

    @property
    def order(self) -> tuple[float, float, str]:
        """By rank, then by score."""
        rank, score = self.last.get("rank"), self.last.get("score")
        return rank or 0, -(score or 0.0), self.last["time"]


class Story(NamedTuple):
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
    wanted, received = set(readers), set(outcome.deliveries["shortlist"])
    told = [name for name, each in outcome.shortlists.items() if each.subscriber in wanted]
    offered = outcome.matches[outcome.matches["shortlist"].isin(told)]
    lines = _lines(publications, set(offered["publication"]))
    return [
        _story(outcome, registry, settings, name, lines)
        for name in sorted(received.intersection(told))
    ]


def _story(
    outcome: Outcome, registry: Registry, settings: Settings, name: str, lines: Mapping[str, str]
) -> Story:
    """Only what a shortlist was offered can change it, so only that is replayed."""
    deliveries = outcome.deliveries[outcome.deliveries["shortlist"] == name]
    offered = outcome.matches[outcome.matches["shortlist"] == name]
    in_time = deliveries["time"] <= outcome.matches["time"].max()  # later, windows only empty
    latest = list(deliveries[in_time]["publication"].tail(SHOWN))
    never = offered[~offered["publication"].isin(deliveries["publication"])]
    passed_over = list(never.sort_values(["time", "publication"])["publication"].tail(1))
    asked, offers = latest + passed_over, set(offered["publication"])
    # What publishers limit was already limited.
    alone = replace(
        registry,
        shortlists=tuple(each for each in registry.shortlists if each.id == name),
        subscriptions=tuple(each for each in registry.subscriptions if each.shortlist_id == name),
        advertisements=(),
    )
    question = _AnyOf(shortlist=name, publications=frozenset(asked))
    replayed = [line for publication, line in lines.items() if publication in offers]
    explanations = replay(alone, replayed, settings, question).explanations
    told = {
        publication: Told(
            json.loads(lines[publication])["data"],
            [each for each in explanations if each["publication"] == publication],
        )
        for publication in asked
    }
    return Story(
        shortlist=outcome.shortlists[name],
        subscriptions=alone.subscriptions,
        matched=len(offered),
        delivered=len(deliveries),
        latest=sorted((told[each] for each in latest), key=lambda each: each.order),
        withheld=told[passed_over[0]] if passed_over else None,
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
