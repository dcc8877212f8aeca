"""Which plan a deployment runs by: where publications meet the subscriptions that they match."""

from dataclasses import dataclass
from typing import Literal

from shortlist.live.key_choice import best_split
from shortlist.live.keys import MOST_LANES, Key
from shortlist.model.registry import Registry

Plan = Literal["replicate", "broadcast", "rendezvous"]
PlanSetting = Literal["replicate", "broadcast", "rendezvous", "auto"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A plan, and why it is the one."""

    plan: Plan
    lanes: int
    key: Key | None = None
    """Of `rendezvous`."""
    why: str


def choose(plan: PlanSetting, registry: Registry, shards: int) -> Choice:
    lanes = min(shards, MOST_LANES)
    if plan == "rendezvous":
        split = best_split(registry, lanes)
        if split is None:
            return Choice(plan="broadcast", lanes=lanes, why="")
        return Choice(plan=plan, lanes=lanes, key=split.key, why="")
    return Choice(plan="replicate" if plan == "auto" else plan, lanes=lanes, why="")
