"""Matching for a part of the registry, kept up to date by the commands that are let in.

Unlike a shard it has no state of its own: the registry as it was committed, and the commands of the
batch, say all. So it writes no files, and can always be made again.
"""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from shortlist.engine.live_registry import LiveRegistry
from shortlist.engine.steps import CommandReader, steps
from shortlist.intake.lines import ItemReader
from shortlist.intake.roster import registry_commands
from shortlist.live.files import Files
from shortlist.live.manifest import Chain
from shortlist.live.registry_state import Concerns, concerning, replay_registry
from shortlist.model.command import Command
from shortlist.model.items import Items
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary

M = TypeVar("M", bound=LiveRegistry)


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


def part_of_registry(
    registry: Chain,
    files: Files,
    limits: Limits,
    concerns: Concerns,
    make: Callable[[Vocabulary, Limits], M],
) -> MatchingPart[M]:
    """With what matches as it is made, and what of a registry concerns it."""
    known, commands = replay_registry(registry, files, limits, concerns)
    matching = make(known.vocabulary, limits)
    for command in (*registry_commands(known), *commands):
        matching.apply(command)
    return MatchingPart(matching, concerns)
