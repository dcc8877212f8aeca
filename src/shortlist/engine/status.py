"""What an engine holds, and what its operator should know."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from shortlist.engine.shard import Shard
from shortlist.model.policy import Novelty, policies_of
from shortlist.selection.bulk.novelty import NoveltyBank


class Rates(NamedTuple):
    """From the least rate that lets every subscription have something to the largest that lets the
    rarest one keep up."""

    least: float
    largest: float


def equal_share_rates(matches: int, delivered: int, matches_of_each: list[int]) -> Rates:
    """Of a shortlist with so many matches, deliveries, and matches of each subscription.

    >>> equal_share_rates(1000, 200, [700, 250, 50])
    Rates(least=0.015, largest=0.15)
    """
    members = len(matches_of_each)
    return Rates(members / max(delivered, 1), members * min(matches_of_each) / max(matches, 1))


def status(shard: Shard) -> dict[str, Any]:
    """Counts, and for each kind of policy how many shortlists there are and what they take."""
    kinds: dict[str, dict[str, int]] = {}
    for level in shard.selecting.levels:
        for kind, bank in level.banks.items():
            held = kinds.setdefault(kind, {"policies": 0, "rows": 0, "bytes": 0})
            held["policies"] += int(bank.arenas[0].heads["is_open"].sum())
            held["rows"] += sum(int(arena.heads["length"].sum()) for arena in bank.arenas)
            held["bytes"] += sum(arena.nbytes for arena in bank.arenas)
    return {
        "shortlists": len(shard.matching.roster.shortlists),
        "subscriptions": len(shard.matching.roster.subscriptions),
        "publications held": len(shard.selecting.publications),
        "state": {kind: held for kind, held in kinds.items() if held["policies"]},
        "warnings": [*warnings(shard)],
    }


def warnings(shard: Shard) -> Iterator[str]:
    """Budgets under which the subscriptions of a shortlist cannot have equal shares.

    What a shortlist has seen says so only once it is a period long.
    """
    for number, stages in sorted(shard.selecting.stages.items()):
        shortlist = shard.shortlist(number)
        choosy = [each for each in policies_of(shortlist.policy) if each.kind != "everything"]
        for depth, (stage, policy) in enumerate(zip(stages, choosy, strict=True)):
            bank = shard.selecting.levels[depth].banks[stage.kind]
            if isinstance(policy, Novelty) and isinstance(bank, NoveltyBank):
                members = shard.matching.roster.members(shortlist.id)
                numbers = {shard.matching.number(name): name for name in members}
                seen = bank.seen(stage.place)
                matches = {name: seen.matches_of.get(key, 0) for key, name in numbers.items()}
                if matches and seen.matches >= policy.period:
                    yield from _warning(shortlist.id, policy, seen.matches, seen.delivered, matches)


def _warning(
    shortlist: str, policy: Novelty, total: int, delivered: int, matches: dict[str, int]
) -> Iterator[str]:
    least, largest = equal_share_rates(total, delivered, [*matches.values()])
    shares = f"equal shares of its {len(matches)} subscriptions"
    if policy.rate > largest:
        rarest = min(matches, key=lambda name: (matches[name], name))
        yield (
            f"shortlist {shortlist!r}: rate {policy.rate:g} is too high for {shares}: "
            f"expected at most {largest:.3g}, since {rarest!r} has {matches[rarest]:,} of "
            f"{total:,} matches"
        )
    elif policy.rate < least:
        yield (
            f"shortlist {shortlist!r}: rate {policy.rate:g} is too low for {shares}: "
            f"expected at least {least:.3g} after {delivered:,} deliveries"
        )
