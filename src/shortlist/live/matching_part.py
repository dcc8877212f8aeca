"""The matching half of a part of the registry, kept up to date by the commands that are let in.

Unlike a shard it has no state of its own: the registry as it was committed, and the commands of the
batch, say all. So it writes no files, and can always be made again.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from shortlist.engine.live import LiveRegistry
from shortlist.intake.lines import ItemReader
from shortlist.intake.roster import registry_commands
from shortlist.live.files import Files
from shortlist.live.manifest import Chain
from shortlist.live.registry_state import Concerns, carried_out, read_registry_state
from shortlist.model.command import Command
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
        known = read_registry_state(files.read(registry.snapshot.name), limits, concerns)
        self.matching = make(known.vocabulary, limits)
        self._reader = ItemReader(known.vocabulary, limits.for_what_was_read())
        self._concerns = concerns
        for command in registry_commands(known):
            self.matching.apply(command)
        for command_row in carried_out(registry, files):
            self.follow(*command_row)

    def follow(self, position: int, shortlist: str | None, line: str) -> None:
        """Carries out a command, if it concerns this part."""
        if self._concerns(shortlist):
            command = self._reader.line(line, position)
            assert isinstance(command, Command)
            self.matching.apply(command)
