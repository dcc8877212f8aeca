"""What clients know of a deployment: its log, and through it its manifest and its registry."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from shortlist.live.files import Files
from shortlist.live.manifest import Chain, Manifest
from shortlist.live.places import announced, files_in
from shortlist.live.registers import committed, has_deployment
from shortlist.log.base import DELIVERIES, REJECTS, Log
from shortlist.model.settings import UNLIMITED, TimeBasis

if TYPE_CHECKING:
    from shortlist.intake.roster import Roster
    from shortlist.model.vocabulary import Vocabulary


class _Words(NamedTuple):
    """A vocabulary after so many inputs."""

    inputs: int
    vocabulary: Vocabulary


@dataclass(frozen=True, slots=True)
class Deployment:
    """The deployment that works on a log, if there is one."""

    log: Log
    _known: dict[str, _Words] = field(default_factory=dict, repr=False, compare=False)
    """The vocabulary that was read last, by the file of its registry."""

    @property
    def manifest(self) -> Manifest | None:
        """What it has committed last."""
        return committed(self.log)[1] if has_deployment(self.log) else None

    @property
    def files(self) -> Files | None:
        """Its state, if that can be read here."""
        folder = announced(self.log)
        return files_in(folder) if folder is not None and folder.is_dir() else None

    @property
    def vocabulary(self) -> Vocabulary:
        """Its vocabulary; one that allows everything where it cannot be known."""
        from shortlist.language.permissive import any_vocabulary

        manifest, files = self.manifest, self.files
        if manifest is None or files is None:
            return any_vocabulary()
        chain = manifest.registry
        known = self._known.get(chain.snapshot.name)
        if known is None or known.inputs != len(chain.inputs):
            known = _words(chain, files, known)
            self._known.clear()
            self._known[chain.snapshot.name] = known
        return known.vocabulary

    @property
    def basis(self) -> TimeBasis:
        """Its time basis; where there is none yet, what it will be unless somebody says
        otherwise."""
        manifest = self.manifest
        return "arrival" if manifest is None else manifest.basis

    def roster(self) -> Roster | None:
        """Who is live, if it can be known here."""
        from shortlist.intake.roster import Roster
        from shortlist.live.registry_state import replay_registry

        manifest, files = self.manifest, self.files
        if manifest is None or files is None:
            return None
        return Roster.of(*replay_registry(manifest.registry, files, UNLIMITED), UNLIMITED)


def _words(chain: Chain, files: Files, known: _Words | None) -> _Words:
    """The vocabulary of a registry; what was known after some of its inputs is not read again."""
    from shortlist.intake.lines import ItemReader
    from shortlist.intake.roster import Roster
    from shortlist.live.registry_state import carried_out, replay_registry
    from shortlist.model.command import Define

    if known is None or known.inputs > len(chain.inputs):
        registry, _ = replay_registry(chain, files, UNLIMITED, lambda _: False)
        known = _Words(0, registry.vocabulary)
    roster, reader = Roster(known.vocabulary), ItemReader(known.vocabulary, UNLIMITED)
    inputs = chain.inputs[known.inputs :]
    for command in carried_out(inputs, files, reader, lambda shortlist: shortlist is None):
        if isinstance(command, Define):
            roster.apply(command)
    return _Words(len(chain.inputs), roster.vocabulary.now())


def read_up_to(manifest: Manifest) -> int:
    """The offset of the last entry that the deployment has read."""
    return manifest.position - manifest.base


def has_passed(manifest: Manifest, offset: int, time: int | None) -> bool:
    """Whether what stands at an offset, and says that it is of this time, was carried out or
    turned away."""
    if read_up_to(manifest) < offset:
        return False
    if manifest.is_finished or manifest.passed - manifest.base >= offset:
        return True
    if manifest.basis == "arrival" or time is None or manifest.reached is None:
        return False
    return time < manifest.reached


def is_put_out(log: Log, manifest: Manifest) -> bool:
    """Whether deliveries and rejects, which come just after the commit, are in the log."""
    has_rejects = log.end(REJECTS) >= manifest.rejects.end
    return has_rejects and log.end(DELIVERIES) >= manifest.deliveries.end


def rejections(
    log: Log, manifest: Manifest, offsets: Collection[int], after: int = 0
) -> Iterator[tuple[int, str]]:
    """Which of these offsets were turned away, and why; read behind an offset of the rejects."""
    for entry in log.read(REJECTS, after):
        document = json.loads(entry.content)
        offset = int(document["position"]) - manifest.base
        if offset in offsets:
            yield offset, document["reason"]


MARGIN = 60_000_000
"""Microseconds by which a server's clock may have been set back."""


def last_before(log: Log, stream: str, time: int) -> int:
    """The offset of the last entry that a log took before an instant, or of one a minute earlier;
    0 if there is none."""
    first, last = 0, log.end(stream)
    while first < last:
        middle = (first + last + 1) // 2
        taken = next((entry.appended for entry in log.read(stream, middle - 1, middle)), time)
        if taken < time - MARGIN:
            first = middle
        else:
            last = middle - 1
    return first
