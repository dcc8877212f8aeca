"""What an admission remembers, in files: a driver that takes over recalls it."""

from collections.abc import Iterable
from dataclasses import asdict, replace

import pyarrow as pa

from shortlist.engine.admission import Admission
from shortlist.engine.admitted import ACCEPTED, Admitted
from shortlist.engine.arrow import rows
from shortlist.engine.quarantine import Quarantined
from shortlist.intake.reading import LineReader
from shortlist.live.compiled import CompiledRegistries, recalled_admission
from shortlist.live.files import Files
from shortlist.live.manifest import Manifest
from shortlist.live.registry_chain import RegistryChain
from shortlist.live.registry_state import replay_registry
from shortlist.live.segments import Segments
from shortlist.live.states import read_state
from shortlist.live.tables import QUARANTINE, WAITING, table_of
from shortlist.model.command import Command
from shortlist.model.items import Wanted
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings


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

    def recall(self, manifest: Manifest) -> Admission:
        """What the driver before this one knew; or this one, if it has just begun."""
        admission, commands = self._recall_registry(manifest)
        vocabulary = admission.vocabulary
        beside = 0
        for command in commands:
            admission.follow(command)
            beside += 1
        self._registry = RegistryChain(self._files, self._settings, beside)
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
            admission.quarantine.put(Quarantined(*row))
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
        reached, held = admission.ordering.reached, admission.quarantine.held
        forgotten = None if reached is None else reached - self._settings.dedup + 1
        waiting = pa.table({name: found.waiting.batch.column(name) for name in WAITING.names})
        put_aside, aside = before.quarantine, table_of(found.quarantined, QUARANTINE)
        if found.released:  # somebody has decided, which is rare: the rest is written anew
            put_aside, aside = (), table_of(held.values(), QUARANTINE)
        return replace(
            before,
            registry=self._registry.followed(before.registry, admission.roster, found, token),
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
        if manifest.settings.get("limits") != asdict(settings.limits):
            registry, commands = replay_registry(
                manifest.registry, self._files, settings.limits, checks=True
            )
            return Admission(registry, settings), commands
        return recalled_admission(manifest.registry, self._files, settings)
