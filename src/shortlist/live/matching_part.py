"""The matching half of a part of the registry, kept up to date by the commands that are let in.

Unlike a shard it has no state of its own: the registry as it was committed, and the commands of the
batch, say all. So it writes no files, and can always be made again.
"""

from shortlist.engine.arrow import rows
from shortlist.engine.bulk_matching import BulkMatching
from shortlist.intake.lines import ItemReader
from shortlist.intake.roster import registry_commands
from shortlist.live.files import Files
from shortlist.live.manifest import Chain
from shortlist.live.registry_state import Concerns, read_registry_state
from shortlist.live.tables import of_bytes
from shortlist.matching.index.index import Index
from shortlist.model.command import Command
from shortlist.model.settings import Limits


class MatchingPart:
    """The subscriptions of some shortlists."""

    def __init__(self, registry: Chain, files: Files, limits: Limits, concerns: Concerns) -> None:
        known = read_registry_state(files.read(registry.snapshot.name), limits, concerns)
        index = Index(known.vocabulary, limits)
        self.matching = BulkMatching(known.vocabulary, limits, index)
        self._reader = ItemReader(known.vocabulary, limits.for_what_was_read())
        self._concerns = concerns
        for command in registry_commands(known):
            self.matching.apply(command)
        for change in registry.changes:
            for carried_out in rows(of_bytes(files.read(change.name)).to_batches()):
                self.follow(*carried_out)

    def follow(self, position: int, shortlist: str | None, line: str) -> None:
        """Carries out a command, if it concerns this part."""
        if self._concerns(shortlist):
            command = self._reader.line(line, position)
            assert isinstance(command, Command)
            self.matching.apply(command)
