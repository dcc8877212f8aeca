"""Sizes of nouns beside the limits under which they are accepted."""

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

from shortlist.language.tree import Score, Where, predicates
from shortlist.matching.computable import needs
from shortlist.model.advertisement import Advertisement
from shortlist.model.paths import Path
from shortlist.model.policy import (
    Cap,
    Chain,
    Diverse,
    Everything,
    Fresh,
    Novelty,
    Policy,
    SinglePolicy,
    Window,
    policies_of,
)
from shortlist.model.problem import Problem
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription

if TYPE_CHECKING:
    from shortlist.matching.arrays import Longs  # NumPy is imported where arrays are

Length = TypeVar("Length", int, "Longs")
# Fields of nouns that are ids or stand in every delivery.
NAMES = ("id", "shortlist", "subscriber", "source")


def name_problems(
    noun: Subscription | Shortlist | Advertisement, limits_of: Callable[[str], Limits]
) -> Iterator[Problem]:
    """Yield what is wrong with ids: those that are longer than the limits of their fields.

    >>> shortlist = Shortlist(id="flats", subscriber="Ada")
    >>> [str(problem) for problem in name_problems(shortlist, lambda field: Limits(id_length=4))]
    ['id: expected at most 4 characters, found 5']
    """
    for field in NAMES:
        name = getattr(noun, field, None)
        if name is not None:
            message = limits_of(field).length_problem(name)
            if message is not None:
                yield Problem(field=field, message=message)
    if isinstance(noun, Shortlist) and noun.prefers:
        longest = max((name for pair in noun.prefers for name in pair), key=len, default="")
        message = limits_of("prefers").length_problem(longest)
        if message is not None:
            yield Problem(field="prefers", message=message)


def policy_problems(policy: Policy | None, limits: Limits) -> Iterator[Problem]:
    """Yield what is too large in a policy.

    >>> from shortlist.model.policy import TopK
    >>> [str(problem) for problem in policy_problems(TopK(k=9), Limits(held=5))]
    ['policy.k: expected at most 5 publications, found 9']
    """
    if policy is None:
        return
    policies = policies_of(policy)
    if len(policies) > limits.policies:
        message = f"expected at most {limits.policies} policies in a chain, found {len(policies)}"
        yield Problem(field="policy", message=message)
        return
    for number, each in enumerate(policies):
        place = f"policy[{number}]" if isinstance(policy, Chain) else "policy"
        yield from _single_problems(each, place, limits)


def _single_problems(policy: SinglePolicy, place: str, limits: Limits) -> Iterator[Problem]:
    for field, count in _counts(policy):
        is_diverse_k = field == "k" and isinstance(policy, Diverse)
        most = min(limits.held, limits.diverse_k) if is_diverse_k else limits.held
        if min(count, sys.maxsize) > most:  # that stands for no limit, and k may be any number
            message = f"expected at most {most} publications, found {_shown(count)}"
            yield Problem(field=f"{place}.{field}", message=message)
    if isinstance(policy, Diverse) and len(policy.over) > limits.diverse_attributes:
        message = (
            f"expected at most {limits.diverse_attributes} attributes, found {len(policy.over)}"
        )
        yield Problem(field=f"{place}.over", message=message)


def _counts(policy: SinglePolicy) -> Iterator[tuple[str, int]]:
    """Yield the settings of a policy that say how many publications it holds at most."""
    if isinstance(policy, Novelty):
        yield "period", policy.period
    elif not isinstance(policy, Everything | Cap) and policy.k is not None:
        yield "k", policy.k
    if isinstance(policy, Window | Fresh | Diverse) and isinstance(policy.window, int):
        yield "window", policy.window


def _shown(count: int) -> str:
    """Return a count in digits, unless it is so long that Python refuses to write it."""
    return f"{count}" if count < 10**18 else "more than 10^18"


def mention_problems(
    where: Where | None, score: Score | None, policy: Policy | None, limits: Limits
) -> Iterator[Problem]:
    """Yield a problem if a noun mentions too many different attributes."""
    paths: set[Path] = set()
    if where is not None:
        paths |= {predicate.path for predicate in predicates(where)}
    if score is not None:
        paths |= {path for _, path in needs(score)}
    for each in () if policy is None else policies_of(policy):
        if isinstance(each, Diverse):
            paths |= {aspect.path for aspect in each.over}
    if len(paths) > limits.mentions:
        message = f"expected at most {limits.mentions} different attributes, found {len(paths)}"
        yield Problem(field="where, score and policy", message=message)


def most_mentions(length: Length, policy: Policy | None = None) -> Length:
    """Return how many attributes texts of a length together, and a policy, mention at most.

    A name has a letter, and something stands between two names.

    >>> most_mentions(len("a*b"))
    2
    """
    mentioned = (length + 1) // 2
    if policy is not None:
        overs = (each.over for each in policies_of(policy) if isinstance(each, Diverse))
        mentioned += sum(map(len, overs))
    return mentioned


def aspects_in(policy: object) -> int:
    """Return how many attributes the document of a policy, perhaps a bad one, is diverse over.

    >>> aspects_in([{"kind": "diverse", "over": {"a": 1, "b": None}}, "top-k"])
    2
    """
    policies = policy if isinstance(policy, list) else [policy]
    overs = [each.get("over") for each in policies if isinstance(each, Mapping)]
    return sum(len(over) for over in overs if isinstance(over, Mapping))
