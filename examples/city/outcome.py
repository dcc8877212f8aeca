"""What a run of the demo led to, in numbers: matched against delivered."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from shortlist.model.durations import Span
from shortlist.model.policy import Everything, Novelty, Policy, Window
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.model.shortlist import Shortlist

WINDOWS = {Span: "window by time", int: "window by count", type(None): "window over all"}
NOVELTIES = ("novelty, threshold", "novelty, sampling", "novelty, random")
POLICY_NAMES = ("everything", "top-k", *WINDOWS.values(), *NOVELTIES, "digest", "chain")


class PolicyCount(NamedTuple):
    """How a policy did; the share delivered is 0 where nothing matched."""

    name: str
    shortlists: int
    matches: int
    deliveries: int

    @property
    def share(self) -> float:
        return self.deliveries / self.matches if self.matches else 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """`matches` and `deliveries` have a row each, with the columns time, shortlist, publication."""

    report: Mapping[str, Any]
    shortlists: Mapping[str, Shortlist]
    matches: pd.DataFrame
    deliveries: pd.DataFrame

    def by_policy(self) -> list[PolicyCount]:
        """A row for every policy that is in use."""
        kinds = {name: policy_name(each.policy) for name, each in self.shortlists.items()}
        shortlists = Counter(kinds.values())
        matches = Counter(self.matches["shortlist"].map(kinds))
        deliveries = Counter(self.deliveries["shortlist"].map(kinds))
        return [
            PolicyCount(name, shortlists[name], matches[name], deliveries[name])
            for name in POLICY_NAMES
            if name in shortlists
        ]

    def by_hour(self) -> pd.DataFrame:
        """Matches and deliveries of every hour."""
        rows = {"matches": self.matches, "deliveries": self.deliveries}
        counts = {name: each["time"].dt.floor("h").value_counts() for name, each in rows.items()}
        return pd.DataFrame(counts).sort_index().fillna(0).astype(int)


def policy_name(policy: Policy) -> str:
    """
    >>> policy_name(Window(k=3, window=100)), policy_name(Everything())
    ('window by count', 'everything')
    """
    match policy:
        case Window(window=window):
            return WINDOWS[type(window)]
        case Novelty(algorithm=algorithm):
            return f"novelty, {algorithm}"
    return policy.kind


def all_shortlists(registry: Registry) -> dict[str, Shortlist]:
    """Those of the registry, and those that subscriptions carry themselves."""
    own = (subscription.own_shortlist() for subscription in registry.subscriptions)
    return {each.id: each for each in (*registry.shortlists, *own) if each is not None}


def delivering_everything(registry: Registry) -> Registry:
    """The same readers under plain publish/subscribe: whatever matches is delivered."""
    plain = Everything()
    return replace(
        registry,
        shortlists=tuple(replace(shortlist, policy=plain) for shortlist in registry.shortlists),
        subscriptions=tuple(
            subscription if subscription.shortlist else replace(subscription, policy=plain)
            for subscription in registry.subscriptions
        ),
    )


def find_matches(registry: Registry, publications: Path, settings: Settings) -> pd.DataFrame:
    """Every match, found by running the readers on Spark without their policies."""
    from shortlist.spark.batch import Batch
    from shortlist.spark.session import local_session
    from shortlist.spark.sources import read_files

    lines = read_files(local_session(), publications)
    batch = Batch(lines, delivering_everything(registry), settings, keep=True)
    columns = ("time", "shortlist", "source", "publication")
    matches = batch.deliveries.select(*columns).toArrow().to_pandas()
    batch.release()
    return _in_utc(matches)


def read_deliveries(file: Path) -> pd.DataFrame:
    """The deliveries that the job wrote, in their order."""
    return _in_utc(pd.read_json(file, lines=True, dtype=False, precise_float=True))


def _in_utc(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(time=pd.to_datetime(frame["time"], utc=True))
