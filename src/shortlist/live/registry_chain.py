"""The whole registry of a deployment as a chain: as it was packed, and the commands since."""

from dataclasses import replace
from functools import partial

import pyarrow as pa

from shortlist.engine.admitted import Admitted
from shortlist.engine.saved import compressed
from shortlist.engine.saving import few_changes
from shortlist.intake.columns import registry_text
from shortlist.intake.roster import Roster
from shortlist.live.files import Files
from shortlist.live.folding import LEAST_FOLDED, Folding, packed_admission
from shortlist.live.manifest import Chain, Input
from shortlist.live.states import write_registry
from shortlist.live.tables import COMMANDS, to_bytes
from shortlist.model.items import COMMAND
from shortlist.model.settings import Settings

MOST_INPUTS = 512
"""Where a registry is packed in the background, as many batches may stand beside it."""


LEAST_COMMANDS = 2**20
"""Bytes of commands that never ask for the whole registry to be written again."""


class RegistryChain:
    """Adds what batches change; where that is much, the registry is packed again."""

    def __init__(self, files: Files, settings: Settings, beside: int) -> None:
        """So many commands stand beside the registry of the chain that comes first."""
        self._files = files
        self._settings = settings
        self._beside = beside
        self._folding = Folding()
        self._begun: tuple[Chain, int] | None = None
        """The chain that is packed in the background, and the commands in it."""

    def followed(self, chain: Chain, roster: Roster, found: Admitted, token: str) -> Chain:
        """The chain behind a batch; the roster is as after it."""
        if not found.commands:
            return chain
        chain, subscriptions = self._folded(chain), len(roster.subscriptions)
        is_small = subscriptions < LEAST_FOLDED
        if len(chain.inputs) >= MOST_INPUTS or (is_small and chain.is_long(least=LEAST_COMMANDS)):
            self._beside, self._begun = 0, None
            return self._packed(token, compressed(registry_text(roster)))
        is_long = chain.is_long(least=LEAST_COMMANDS) or self._beside > few_changes(subscriptions)
        if is_long and not is_small and not self._folding.is_busy:
            self._begun = chain, self._beside
            task = partial(packed_admission, chain=chain, settings=self._settings)
            self._folding.begin(self._files.folder, task, len(chain.inputs))
        self._beside += len(found.commands)
        commands = found.items.kept(found.items.kinds == COMMAND).batch
        content = to_bytes(pa.table({name: commands.column(name) for name in COMMANDS.names}))
        return chain.followed(token, Input(items=self._files.store("commands", content)))

    def _folded(self, chain: Chain) -> Chain:
        """The same state, with a registry that was packed in the background."""
        folded = self._folding.taken()
        if folded is None or self._begun is None:
            return chain
        (before, commands), self._begun = self._begun, None
        if chain.snapshot != before.snapshot or chain.inputs[: folded.changes] != before.inputs:
            return chain  # that batch was never committed
        self._beside -= commands
        packed = self._packed(chain.token, folded.packed)
        return replace(packed, inputs=chain.inputs[folded.changes :])

    def _packed(self, token: str, registry: bytes) -> Chain:
        return Chain(token=token, snapshot=write_registry(registry, self._files))
