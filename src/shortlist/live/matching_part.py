"""Matching for a part of the registry, kept up to date by the commands that are let in.

Unlike a shard it has no state of its own: the registry as it was committed, and the commands of the
batch, say all. So it writes no files, and can always be made again.
"""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

import numpy as np

from shortlist.engine.live_registry import LiveRegistry
from shortlist.engine.steps import CommandReader, steps
from shortlist.intake.lines import ItemReader
from shortlist.intake.roster import registry_commands
from shortlist.live.files import Files
from shortlist.live.manifest import Chain
from shortlist.live.registry_state import Concerns, replay_registry
from shortlist.model.command import Command
from shortlist.model.items import COMMAND, Items
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary

M = TypeVar("M", bound=LiveRegistry)


class MatchingPart(Generic[M]):
    """The subscriptions of some shortlists, and who matches them."""

    def __init__(
        self,
        registry: Chain,
        files: Files,
        limits: Limits,
        concerns: Concerns,
        make: Callable[[Vocabulary, Limits], M],
    ) -> None:
        known, commands = replay_registry(registry, files, limits, concerns)
        self.matching = make(known.vocabulary, limits)
        self.reader = ItemReader(known.vocabulary, limits.for_what_was_read())
        self._concerns = concerns
        for command in (*registry_commands(known), *commands):
            self.matching.apply(command)

    def steps(self, items: Items) -> Iterator[Items]:
        """Blocks of publications; the commands between them that concern this part are carried
        out."""
        is_command = items.kinds == COMMAND
        concerns = np.ones(len(items), np.bool_)
        named = items.values("shortlist")
        concerns[is_command] = [
            self._concerns(named[at]) for at in np.flatnonzero(is_command).tolist()
        ]
        for step in steps(items.kept(concerns), CommandReader(self.reader)):
            if isinstance(step, Command):
                self.matching.apply(step)
            else:
                yield step
