"""What an admission makes of items: admitted, refused, or waiting still."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa

from shortlist.engine.quarantine import Quarantined
from shortlist.model.command import Command
from shortlist.model.items import Items
from shortlist.selection.audience import Inducement

Why = Literal["unreadable", "late", "ahead", "duplicate", "unadvertised", "refused", "quarantined"]


class Refusal(NamedTuple):
    """An item that was turned away."""

    position: int | None
    line: str
    reason: str
    why: Why

    @property
    def order(self) -> tuple[int, str]:
        """As refusals are told; what has no position comes first."""
        return -1 if self.position is None else self.position, self.line


class Handover(NamedTuple):
    """A shortlist opens, closes or goes to another subscriber."""

    time: int
    # That of the command that did it.
    position: int
    shortlist: str
    # Whose the shortlist is from then on; None: it has closed.
    subscriber: str | None


ACCEPTED = pa.schema({"time": pa.int64(), "source": pa.string(), "id": pa.string()})
"""Publications that are not to come again."""


@dataclass(slots=True)
class Admitted:
    """What a batch of items led to."""

    items: Items = field(default_factory=Items.empty)
    """Publications and commands that were let in, in order. `reach` is how far a publisher
    reaches at most, `advertisement` whose score decides, `shortlist` the only one that a command
    concerns."""
    commands: dict[int, Command] = field(default_factory=dict)
    """Those among them, by position."""
    handovers: list[Handover] = field(default_factory=list)
    """Openings, closings and changes of subscribers by these commands, in order."""
    refusals: list[Refusal] = field(default_factory=list)
    accepted: list[pa.RecordBatch] = field(default_factory=list)
    """Rows of ACCEPTED."""
    quarantined: list[Quarantined] = field(default_factory=list)
    """What was put aside."""
    released: list[int] = field(default_factory=list)
    """The positions of what was, and arrives anew or is forgotten."""
    waiting: Items = field(default_factory=Items.empty)
    """What came with this batch and is not passed on yet."""
    until: int | None = None
    """Everything before this instant is known."""
    counts: Counter[str] = field(default_factory=Counter)


class Decided:
    """Items that are decided about one after the other, and what was decided."""

    def __init__(self, items: Items) -> None:
        self.items = items
        self.is_in = np.ones(len(items), np.bool_)
        self.reaches: list[Inducement | None] = [None] * len(items)
        self.shortlists: list[str | None] = [None] * len(items)

    def let_in(self) -> Items:
        """Those that are let in, with what was decided about them."""
        size = len(self.items)
        reach, advertisement = pa.nulls(size, pa.int64()), pa.nulls(size, pa.string())
        if any(self.reaches):
            reach = pa.array([limit and limit.k for limit in self.reaches], pa.int64())
            named = [limit and limit.advertisement for limit in self.reaches]
            advertisement = pa.array(named, pa.string())
        shortlist = pa.array(self.shortlists, pa.string())
        return self.items.with_columns(
            reach=reach, advertisement=advertisement, shortlist=shortlist
        ).kept(self.is_in)
