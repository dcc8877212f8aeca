"""What an admission remembers, in files: a driver that takes over recalls it."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import pyarrow as pa

from shortlist.engine.admission import Admission
from shortlist.engine.admitted import ACCEPTED, Admitted
from shortlist.engine.arrow import rows
from shortlist.engine.quarantine import Quarantined
from shortlist.engine.saved import compressed
from shortlist.engine.saving import few_changes
from shortlist.intake.columns import registry_text
from shortlist.intake.reading import LineReader
from shortlist.intake.roster import Roster
from shortlist.live.compiled import CompiledRegistries, recalled_admission
from shortlist.live.files import Files
from shortlist.live.folding import LEAST_FOLDED, Folding, packed_admission
from shortlist.live.manifest import Chain, Input, Manifest
from shortlist.live.segments import Segments
from shortlist.live.states import read_state, write_registry
from shortlist.live.tables import COMMANDS, QUARANTINE, WAITING, table_of, to_bytes
from shortlist.model.command import Command
from shortlist.model.items import COMMAND, Wanted
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings

MOST_INPUTS = 512
"""Where a registry is packed in the background, as many batches may stand beside it."""
LEAST_COMMANDS = 2**20
"""Bytes of commands that never ask for the whole registry to be written again."""


class AdmissionFiles:
    """Ids that were accepted, items that wait, what was put aside; and the registry."""

    def __init__(
        self, files: Files, settings: Settings, with_data: bool, begun_with: Registry | None
    ) -> None:
        """Whoever has just begun a deployment knows its registry."""
        self._files, self._settings = files, settings
        self._with_data, self._begun_with = with_data, begun_with
        self._accepted = Segments(files, "accepted", ACCEPTED)
        self._waiting = Segments(files, "waiting", WAITING)
        self._quarantine = Segments(files, "quarantine", QUARANTINE)
        self._folding = Folding()
        self._beside = 0
        """Commands beside the registry as it was packed last."""
        self._begun: tuple[Chain, int] | None = None
        """The chain that is packed in the background, and the commands in it."""

    def recall(self, manifest: Manifest) -> Admission:
        """What the driver before this one knew; or this one, if it has just begun."""
        admission, commands = self._recall_registry(manifest)
        vocabulary = admission.vocabulary
        beside = 0
        for command in commands:
            admission.follow(command)
            beside += 1
        self._folding, self._beside, self._begun = Folding(), beside, None
        waiting = self._waiting.rows(manifest.waiting, manifest.reached)
        read = LineReader(
            vocabulary,
            self._settings.limits.for_what_was_read(),
            admission.wanted.joined(Wanted(data=self._with_data)),
            by_arrival=manifest.basis == "arrival",
        )
        lines = [line.encode() for line in waiting.column("line").to_pylist()]
        times = waiting.column("time").to_pylist()
        items = read.lines(waiting.column("position").to_pylist(), lines, times)
        admission.ordering.restore(manifest.latest, items, manifest.reached)
        admission.arrivals.latest = manifest.arrived
        for row in rows(self._quarantine.rows(manifest.quarantine).to_batches()):
            admission.quarantine[row[0]] = Quarantined(*row)
        for accepted, source, name in rows(self._accepted.rows(manifest.accepted).to_batches()):
            admission.duplicates.accept(source, name, accepted)
        return admission

    def keep_registry(self, manifest: Manifest, admission: Admission) -> None:
        """Compiles the registry that a deployment was just begun with, for whoever comes next."""
        saved = read_state(manifest.registry, self._files.read)
        known = CompiledRegistries(self._files.folder)
        known.keep_admission(admission, saved.packed_registry, self._settings.limits)

    def follow(
        self, before: Manifest, admission: Admission, found: Admitted, token: str, *, last: bool
    ) -> Manifest:
        """Adds what a batch led to; the registry behind it has this token."""
        reached, held = admission.ordering.reached, admission.quarantine
        forgotten = None if reached is None else reached - self._settings.dedup_micros + 1
        waiting = pa.table({name: found.waiting.batch.column(name) for name in WAITING.names})
        put_aside, aside = before.quarantine, table_of(found.quarantined, QUARANTINE)
        if found.released:  # somebody has decided, which is rare: the rest is written anew
            put_aside, aside = (), table_of(held.values(), QUARANTINE)
        return replace(
            before,
            registry=self._followed(before.registry, admission.roster, found, token),
            accepted=self._accepted.extended(
                before.accepted, pa.Table.from_batches(found.accepted, ACCEPTED), forgotten
            ),
            waiting=self._waiting.extended(() if last else before.waiting, waiting, reached),
            quarantine=self._quarantine.extended(put_aside, aside, None),
            quarantined=len(held),
        )

    def _recall_registry(self, manifest: Manifest) -> tuple[Admission, Iterable[Command]]:
        settings = self._settings
        if self._begun_with is not None and not manifest.number:
            return Admission(self._begun_with, settings), ()
        return recalled_admission(manifest.registry, self._files, settings)

    def _followed(self, chain: Chain, roster: Roster, found: Admitted, token: str) -> Chain:
        """A registry with what a batch changes, behind which the roster is so; packed again where
        that is much."""
        if not found.commands:
            return chain
        chain, subscriptions = self._folded(chain), len(roster.subscriptions)
        is_small = subscriptions < LEAST_FOLDED
        if len(chain.inputs) >= MOST_INPUTS or (is_small and chain.is_long(least=LEAST_COMMANDS)):
            self._beside, self._begun = 0, None
            return self._packed(token, compressed([registry_text(roster)]))
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
