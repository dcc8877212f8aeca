"""Matching for a part of the registry, kept up to date by the commands that are let in.

Unlike a shard it has no state of its own: the registry as it was committed, and the commands of the
batch, say all. So it writes no files, and can always be made again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from shortlist.engine.live_registry import LiveRegistry
from shortlist.engine.steps import CommandReader, steps
from shortlist.intake.lines import ItemReader
from shortlist.live.files import Files, Stored
from shortlist.live.registry_state import Concerns, concerning
from shortlist.model.command import Command
from shortlist.model.items import Items
from shortlist.model.settings import Limits

M = TypeVar("M", bound=LiveRegistry)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardWork:
    """What every task of a batch is told; it travels with the task, so what is large is a file."""

    folder: str
    epoch: int
    """Of the driver whose work it is."""
    shard: int
    """Or lane: what has the same number is best done in the same process."""
    shards: int
    limits: Limits

    @property
    def files(self) -> Files:
        return Files(self.folder, self.epoch)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartWork(ShardWork):
    """Work for whoever matches with a part of the registry."""

    before: str
    """The token of the registry before the batch."""
    following: str
    """And after it."""
    items: Stored


class MatchingPart(Generic[M]):
    """The subscriptions of some shortlists, and who matches them."""

    def __init__(self, matching: M, concerns: Concerns) -> None:
        self.matching = matching
        self._concerns = concerns
        reader = ItemReader(matching.vocabulary, matching.limits.for_what_was_read())
        self._commands = CommandReader(reader)

    def steps(self, items: Items) -> Iterator[Items]:
        """Blocks of publications; the commands between them that concern this part are carried
        out."""
        for step in steps(concerning(items, self._concerns), self._commands):
            if isinstance(step, Command):
                self.matching.apply(step)
            else:
                yield step
