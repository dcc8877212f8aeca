"""What matching was to show, and where in the figures to look for it."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Goal(NamedTuple):
    """A bound on one number of the figures that have some facts."""

    name: str
    facts: Mapping[str, Any]
    key: str
    bound: float
    at_most: bool = False

    @property
    def text(self) -> str:
        return f"{'≤' if self.at_most else '≥'} {self.bound:,.4g}"

    def is_met(self, value: float) -> bool:
        """Whether a measured number is on the right side.

        >>> fast = Goal("pairs a second", {}, "pairs_per_second", 8e9)
        >>> fast.text, fast.is_met(9e9)
        ('≥ 8e+09', True)
        """
        return value <= self.bound if self.at_most else value >= self.bound


def _index(mix: str, subscriptions: int = 100_000) -> dict[str, Any]:
    matching = {"figure": "matching", "engine": "index"}
    return {**matching, "mix": mix, "subscriptions": subscriptions}


_FUZZY = {"figure": "fuzzy", "subscriptions": 100_000}


def _fuzzy_facts(mix: str) -> Goal:
    facts = {"figure": "fuzzy facts", "mix": mix, "subscriptions": 100_000}
    return Goal(f"fuzzy films, {mix}, 100 k: times the seconds", facts, "slowdown", 5, True)


def _growth(mix: str) -> Goal:
    sizes = {"figure": "growth", "mix": mix, "smallest": 10_000, "largest": 1_000_000}
    return Goal(f"{mix}, 10 k to 1 M: largest to smallest pairs/s", sizes, "spread", 2, True)


GOALS = (
    Goal("selective, 100 k: times the NumPy scan", _index("selective"), "ratio_to_numpy", 15),
    Goal("broad, 100 k: times the NumPy scan", _index("broad"), "ratio_to_numpy", 8),
    Goal("ranges, 100 k: pairs/s", _index("ranges"), "pairs_per_second", 8e9),
    Goal("ranges, 100 k: bytes each", _index("ranges"), "bytes_per_subscription", 200, True),
    Goal("selective, 100 k: seconds to build", _index("selective"), "build_seconds", 30, True),
    Goal("1 M: seconds to load", _index("selective", 1_000_000), "load_seconds", 1, True),
    _growth("ranges"),
    _growth("selective"),
    Goal("fuzzy, 100 k: times the seconds of crisp supports", _FUZZY, "slowdown", 3, True),
    *(_fuzzy_facts(mix) for mix in ("ranges", "broad", "fuzzy", "deep")),
    Goal("end to end: times a plain join", {"figure": "end to end"}, "ratio_to_plain_join", 30),
    Goal("churn: changes/s while matching", {"figure": "churn"}, "changes_per_second", 5_000),
    Goal(
        "churn: times the seconds of a quiet block", {"figure": "churn"}, "worst_slowdown", 2, True
    ),
)
