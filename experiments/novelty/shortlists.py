"""Who gets what: one shortlist for each variant of the policy, all over the same stream.

Every shortlist has the same subscriptions; by default they are disjoint, one for each kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from experiments.novelty.streams import KINDS, PERIOD, Kinds, published
from shortlist.experiments.run import Run

Settings = Mapping[str, Any]

RATE = 0.2
MODES = ("lazy", "eager")
MEASURES = ("rate", "interval")
EVERYTHING = {"kind": "everything"}
DISJOINT = tuple(f"kind = {kind}" for kind in range(KINDS))


class Got(NamedTuple):
    """What a shortlist got of a stream: the places of deliveries, in order, and their kinds."""

    places: Kinds
    kinds: Kinds


def policy(**settings: Any) -> Settings:
    """The paper's defaults, but for some settings."""
    return {"kind": "novelty", "rate": RATE, "period": PERIOD, **settings}


def variants(algorithm: str, period: int = PERIOD) -> dict[str, Settings]:
    """Lazy and eager, by rate and by interval.

    >>> [*variants("threshold")]
    ['lazy rate', 'lazy interval', 'eager rate', 'eager interval']
    """
    return {
        f"{mode} {measure}": policy(algorithm=algorithm, mode=mode, measure=measure, period=period)
        for mode, measure in product(MODES, MEASURES)
    }


def deliver(
    run: Run,
    stream: Kinds,
    policies: Mapping[str, Settings],
    wheres: Sequence[str] = DISJOINT,
    *,
    publications: pa.Table | None = None,
) -> dict[str, Got]:
    """What each policy delivers of a stream, by the names of policies."""
    given = publications if publications is not None else published(stream)
    ranked = run.rank(registry(run, policies, wheres), given)
    return got_of(ranked.deliveries, stream, policies)


def registry(run: Run, policies: Mapping[str, Settings], wheres: Sequence[str]) -> Settings:
    """A shortlist for each policy."""
    seed = seed_of(run)
    return {
        "shortlists": [
            {"id": name, "subscriber": "user", "policy": seeded(each, seed)}
            for name, each in policies.items()
        ],
        "subscriptions": [
            {"id": subscription_id(name, kind), "shortlist": name, "where": where}
            for name in policies
            for kind, where in enumerate(wheres)
        ],
    }


def seed_of(run: Run) -> int:
    """What draws of policies follow from."""
    return int(run.draws("sampling").integers(1 << 31))


def seeded(settings: Settings, seed: int) -> Settings:
    """A policy that draws, with its seed."""
    return {"seed": seed, **settings} if settings["kind"] == "novelty" else settings


def subscription_id(shortlist: str, kind: int) -> str:
    """
    >>> subscription_id("lazy rate", 3)
    'lazy rate: 03'
    """
    return f"{shortlist}: {kind:02}"


def got_of(deliveries: pa.Table, stream: Kinds, shortlists: Iterable[str]) -> dict[str, Got]:
    """Deliveries by shortlist; the ids of publications are their places."""
    places = np.array(deliveries["publication"].to_numpy(), np.int64)
    names = deliveries["shortlist"].to_numpy()
    return {name: got_at(places[names == name], stream) for name in shortlists}


def got_at(places: Kinds, stream: Kinds) -> Got:
    in_order = np.sort(places)
    return Got(in_order, stream[in_order])
