"""What a simulation led to: deliveries, and how many messages they took."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from shortlist.measures.spread import entropy
from shortlist.model.delivery import Delivery
from shortlist.model.problem import Reject
from shortlist.overlay.messages import KINDS, Kind, Send, tally

Ends = tuple[str, str]


@dataclass(slots=True)
class Traffic:
    """Messages between brokers."""

    messages: Counter[tuple[Kind, int]] = field(default_factory=Counter)
    """By kind, and by the how manieth hop of its way each was."""
    sizes: Counter[Kind] = field(default_factory=Counter)
    """Bytes by kind."""
    links: Counter[Ends] = field(default_factory=Counter)
    """By the two brokers, the smaller name first."""
    direct: Counter[Ends] = field(default_factory=Counter)
    """The same, of those that went by no link."""
    lost: int = 0

    def count(self, sender: str, send: Send) -> None:
        ends = (min(sender, send.to), max(sender, send.to))
        for kind, number, size in tally(send.message):
            self.messages[kind, send.hop] += number
            self.sizes[kind] += size
            (self.direct if send.is_direct else self.links)[ends] += number

    def of(self, kind: Kind) -> int:
        return sum(count for (each, _), count in self.messages.items() if each == kind)

    def by_hop(self, kind: Kind) -> dict[int, int]:
        return {hop: count for (each, hop), count in sorted(self.messages.items()) if each == kind}

    @property
    def total(self) -> int:
        return self.messages.total()


@dataclass(slots=True)
class Report:
    """What came of a strategy, beside what one central engine delivers."""

    strategy: str
    deliveries: list[Delivery]
    traffic: Traffic
    rejects: list[Reject] = field(default_factory=list)
    split: list[str] = field(default_factory=list)
    """The shortlists whose subscriptions several brokers may hold."""
    known: dict[str, int] = field(default_factory=dict)
    """By broker, how many subscriptions of others it knew in the end."""

    def recall(self, expected: Iterable[Delivery]) -> float:
        """The share of the expected deliveries that were made."""
        wanted = {_key(delivery) for delivery in expected}
        made = {_key(delivery) for delivery in self.deliveries}
        return len(wanted & made) / len(wanted) if wanted else 1.0

    def document(self, expected: Sequence[Delivery] | None = None) -> dict[str, Any]:
        """The figures, for machines."""
        document: dict[str, Any] = {"strategy": self.strategy}
        document |= {kind: self.traffic.of(kind) for kind in KINDS}
        document |= {
            "total": self.traffic.total,
            "bytes": sum(self.traffic.sizes.values()),
            "lost": self.traffic.lost,
            "deliveries": len(self.deliveries),
            "rejects": len(self.rejects),
        }
        if expected is not None:
            document["recall"] = round(self.recall(expected), 6)
            if self.split:
                document["split"] = [
                    _outcome(name, self.deliveries, expected) for name in self.split
                ]
        return document


def _outcome(name: str, made: Iterable[Delivery], expected: Iterable[Delivery]) -> dict[str, Any]:
    """What a split shortlist got, beside what one central engine delivers to it; entropy is in
    bits, over the subscriptions that deliveries name."""
    ours = [delivery for delivery in made if delivery.shortlist == name]
    theirs = [delivery for delivery in expected if delivery.shortlist == name]
    got, wanted = {*map(_key, ours)}, {*map(_key, theirs)}
    return {
        "shortlist": name,
        "deliveries": len(got),
        "missing": len(wanted - got),
        "extra": len(got - wanted),
        "entropy": _entropy(ours),
        "expected_entropy": _entropy(theirs),
    }


def _entropy(deliveries: Iterable[Delivery]) -> float:
    counts = Counter(delivery.subscription for delivery in deliveries)
    return round(entropy([*counts.values()]), 6)


def _key(delivery: Delivery) -> tuple[str, str, str]:
    return delivery.shortlist, delivery.publication.source, delivery.publication.id
