"""What one reader wants of one topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A shortlist to be: its policy, and what is asked for, part by part.

    >>> Wish(topic="river", policy={"kind": "everything"}, asks={"all": {}}).is_plain
    True
    """

    topic: str
    policy: Mapping[str, Any]
    asks: Mapping[str, Mapping[str, Any]]
    combine: str | None = None
    prefers: tuple[tuple[str, str], ...] = ()

    @property
    def is_plain(self) -> bool:
        """One subscription can carry such a shortlist itself."""
        return len(self.asks) == 1 and self.combine is None


def top(k: int, **lasting: str) -> dict[str, Any]:
    """
    >>> top(2, refresh="1h")
    {'kind': 'top-k', 'k': 2, 'refresh': '1h'}
    """
    return {"kind": "top-k", "k": k, **lasting}


def best_of(window: str | int | None, k: int, **options: float) -> dict[str, Any]:
    return {"kind": "window", "k": k, "window": window, **options}


def novelty(rate: float, period: int, **options: str | float) -> dict[str, Any]:
    return {"kind": "novelty", "rate": rate, "period": period, **options}


def everything() -> dict[str, Any]:
    return {"kind": "everything"}
