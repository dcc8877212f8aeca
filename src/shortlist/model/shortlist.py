"""A shortlist: the bounded, ranked list that one subscriber receives."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from shortlist.model.fields import Id, Noun, expecting
from shortlist.model.policy import Everything, Policy

Combine = Literal["max", "min", "mean", "sum", "most_specific"]
Preference = Annotated[
    tuple[Id, Id], expecting("a pair of two subscription ids, the better one first")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortlist(Noun):
    """Who receives, by which policy, and how several subscriptions' scores become one."""

    id: Id
    subscriber: Id
    policy: Policy = field(default_factory=Everything)
    combine: Combine = "max"
    prefers: tuple[Preference, ...] = ()
