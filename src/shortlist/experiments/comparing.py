"""Policies beside each other, on the same registry and publications."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shortlist.experiments.picture import INKS, canvas
from shortlist.experiments.ranking import Ranking
from shortlist.intake.files import registry_from_documents
from shortlist.measures.buckets import Bucket, Buckets
from shortlist.measures.distance import interdelivery_distance
from shortlist.measures.spread import entropy, fairness, traffic_saved
from shortlist.model.policy import Everything, Policy
from shortlist.model.registry import Registry

AS_WRITTEN = "as written"
EVERYTHING = "everything"
"""What Boolean matching delivers, with which all else is compared."""

Published = tuple[str, str]
"""A publication: its source and its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparand:
    """What one policy did. A measure is None where nothing can be said: no deliveries, or no
    shortlist with several subscriptions."""

    policy: str
    matched: int
    delivered: int
    promotions: int
    saved: float
    """The share of matches that was not delivered."""
    entropy: float | None
    """In bits, over the subscriptions of a shortlist; the mean of shortlists with several."""
    fairness: float | None
    distance: float | None
    """Between deliveries of the same subscription, counted in deliveries; the mean of shortlists
    with several subscriptions."""
    deviation: float | None
    """Of that distance: 0 if each comes back as regularly as a clock."""
    threshold_changes: int
    """How often the score changed that a publication needs to be among the k best of a window."""
    score: float | None
    """The mean of what was delivered."""
    quality: float | None
    """The mean of an expression that somebody asked for, over what was delivered."""


@dataclass(frozen=True)
class Comparison:
    """A registry and publications, which policies are tried on."""

    registry: Registry
    source: Path
    ranking: Ranking
    quality: str | None = None
    """A score expression, such as `rating / 10`."""

    def run(self, policies: Mapping[str, Policy | None]) -> Iterator[Comparand]:
        """Each as soon as it is done; None leaves shortlists as they are."""
        for name, policy in policies.items():
            tried = self.registry if policy is None else with_policy(self.registry, policy)
            deliveries, report = self.ranking.rank(tried, self.source)
            yield self._comparand(name, deliveries, report)

    def _comparand(self, name: str, deliveries: pa.Table, report: Mapping[str, Any]) -> Comparand:
        matched, delivered = report["matched"], report["deliveries"]
        spreads = [*self._spreads(deliveries)]
        return Comparand(
            policy=name,
            matched=matched,
            delivered=delivered,
            promotions=report["promotions"],
            saved=traffic_saved(matched, delivered),
            entropy=_mean(spread[0] for spread in spreads),
            fairness=_mean(spread[1] for spread in spreads),
            distance=_mean(spread[2] for spread in spreads),
            deviation=_mean(spread[3] for spread in spreads),
            threshold_changes=report["threshold_changes"],
            score=pc.mean(deliveries["score"]).as_py(),
            quality=self._quality(deliveries),
        )

    def _spreads(self, deliveries: pa.Table) -> Iterator[tuple[float | None, ...]]:
        for shortlist, buckets in self._buckets.items():
            counted = [*self._counted(shortlist, buckets, deliveries)]
            if counted:
                counts = buckets.counts(counted)
                yield (entropy(counts), fairness(counts), *interdelivery_distance(counted))

    def _counted(self, shortlist: str, buckets: Buckets, deliveries: pa.Table) -> Iterator[Bucket]:
        """Which subscription each delivery of a shortlist is counted at, in order."""
        its = deliveries.filter(pc.equal(deliveries["shortlist"], shortlist))
        for source, publication, named in _rows(its, "subscription"):
            if shortlist in self._nested:
                matching = self._matching[source, publication] & self._members[shortlist]
                yield buckets.of(matching, named)
            else:
                yield buckets.bucket(named)

    def _quality(self, deliveries: pa.Table) -> float | None:
        if self.quality is None:
            return None
        known = self._qualities
        return _mean(known.get(row[:2]) for row in _rows(deliveries, "score"))

    @cached_property
    def _members(self) -> Mapping[str, set[str]]:
        """Of shortlists with several subscriptions."""
        members = defaultdict(set)
        for subscription in self.registry.subscriptions:
            members[subscription.shortlist_id].add(subscription.id)
        return {name: some for name, some in members.items() if len(some) > 1}

    @cached_property
    def _buckets(self) -> Mapping[str, Buckets]:
        known = {subscription.id: subscription for subscription in self.registry.subscriptions}
        return {
            name: Buckets([known[member] for member in members], self.registry.vocabulary)
            for name, members in self._members.items()
        }

    @cached_property
    def _nested(self) -> Collection[str]:
        """Shortlists in which a subscription covers others: what a delivery is counted at then
        depends on all that matched, of which it names only the one with the best score."""
        return {
            name
            for name, members in self._members.items()
            if any(self._buckets[name].bucket(member).other for member in members)
        }

    @cached_property
    def _matching(self) -> Mapping[Published, set[str]]:
        """The subscriptions of nested shortlists that each publication matches."""
        nested = [each for each in self.registry.subscriptions if each.shortlist in self._nested]
        alone = replace(
            self.registry,
            shortlists=(),
            subscriptions=tuple(replace(each, shortlist=None) for each in nested),
            advertisements=(),
        )
        matching = defaultdict(set)
        deliveries, _ = self.ranking.rank(alone, self.source)
        for source, publication, subscription in _rows(deliveries, "subscription"):
            matching[source, publication].add(subscription)
        return matching

    @cached_property
    def _qualities(self) -> Mapping[Published, float]:
        """What the expression is of each publication, where it is a number."""
        judge = {"id": "quality", "score": self.quality}
        judged = registry_from_documents({"subscriptions": [judge]})
        judging = replace(judged, vocabulary=self.registry.vocabulary)
        deliveries, _ = self.ranking.rank(judging, self.source)
        found = _rows(deliveries, "score")
        return {(source, publication): score for source, publication, score in found}


def read_policies(documents: Mapping[str, Any]) -> dict[str, Policy | None]:
    """Policies by name, checked as those of a registry are.

    >>> read_policies({"best": {"kind": "top-k", "k": 3}})["best"].k
    3
    """
    shortlists = [
        {"id": name, "subscriber": name, "policy": document} for name, document in documents.items()
    ]
    read = registry_from_documents({"shortlists": shortlists})
    return {shortlist.id: shortlist.policy for shortlist in read.shortlists}


def compared(policies: Mapping[str, Policy | None]) -> dict[str, Policy | None]:
    """These, behind what a Boolean system does and what the registry asks for.

    >>> [*compared({})]
    ['everything', 'as written']
    """
    return {EVERYTHING: Everything(), AS_WRITTEN: None, **policies}


def with_policy(registry: Registry, policy: Policy) -> Registry:
    """The registry with one policy for every shortlist."""
    return replace(
        registry,
        shortlists=tuple(replace(each, policy=policy) for each in registry.shortlists),
        subscriptions=tuple(
            each if each.shortlist else replace(each, policy=policy)
            for each in registry.subscriptions
        ),
    )


def _rows(deliveries: pa.Table, further: str) -> Iterable[tuple[str, str, Any]]:
    names: Sequence[str] = ("source", "publication", further)
    return zip(*(deliveries[name].to_pylist() for name in names), strict=True)


def _mean(numbers: Iterable[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return fmean(known) if known else None


PANELS = {
    "saved": "matches not delivered, share",
    "entropy": "entropy, bits",
    "fairness": "fairness, 0 to 1",
    "deviation": "deviation of the distance, deliveries",
    "threshold_changes": "changes of thresholds",
    "score": "mean score",
    "quality": "mean quality",
}
MOST_IN_A_ROW = 4


def draw_comparison(found: Sequence[Comparand], file: Path) -> None:
    """Measures of which nothing can be said have no panel."""
    shown = {name: title for name, title in PANELS.items() if any(getattr(c, name) for c in found)}
    columns = min(len(shown), MOST_IN_A_ROW)
    lines = -(-len(shown) // columns)
    size = (1.6 + 2.4 * columns, lines * (0.9 + 0.28 * len(found)))
    with canvas(file, size=size) as picture:
        panels = picture.subplots(lines, columns, sharey=True, squeeze=False).flat
        names = [each.policy for each in found]
        for panel, (name, title) in zip(panels, shown.items(), strict=False):
            values = [getattr(each, name) or 0.0 for each in found]
            panel.barh(range(len(names)), values, color=INKS[0])
            panel.set_yticks(range(len(names)), names)
            panel.set_xlabel(title)
            panel.grid(visible=False, axis="y")
        next(iter(picture.axes)).invert_yaxis()
        for empty in picture.axes[len(shown) :]:
            empty.set_visible(False)
