"""What an engine holds, and what its operator should know."""

from collections.abc import Iterator
from typing import Any

from shortlist.engine.shard import Shard


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
    """What the policies of shortlists have to say about their settings."""
    matching, selecting = shard.matching, shard.selecting
    for name in matching.roster.shortlists:
        stages = selecting.stages(matching.shortlists.number(name))
        members = {each: matching.number(each) for each in matching.roster.members(name)}
        for level, (kind, place) in zip(selecting.levels, stages, strict=False):
            for warning in level.banks[kind].warnings(place, members):
                yield f"shortlist {name!r}: {warning}"
