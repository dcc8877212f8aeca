"""The same state in another number of shards.

What each of the new shards has of the registry is packed and compiled by a process in the
background, while the deployment goes on; commands since then stand beside it. So moving takes what
starting takes, and nothing is compiled meanwhile.
"""

import pickle
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import orjson

from shortlist.engine.merging import joined, part
from shortlist.engine.saved import packed, registry_part
from shortlist.intake.columns import registry_text
from shortlist.intake.lines import ItemReader
from shortlist.intake.written import item_document
from shortlist.live.compiled import CompiledRegistries, followed_admission
from shortlist.live.files import Files
from shortlist.live.folding import LEAST_FOLDED, Folding
from shortlist.live.manifest import Chain, Input, Manifest
from shortlist.live.registers import MANIFEST, Registers, take_over
from shortlist.live.registry_state import carried_out, of_shard
from shortlist.live.shard import KeptShard
from shortlist.live.states import write_state
from shortlist.log.base import Moved
from shortlist.model.settings import Limits, Settings

SHARDS = "shards"
"""The register that tells a running deployment how many shards somebody wants."""


def packed_parts(folder: Path, chain: Chain, settings: Settings, shards: int, finds: bool) -> bytes:
    """The registry in parts, one for each of so many shards."""
    admission = followed_admission(chain, Files(folder), settings)
    document = orjson.loads(registry_text(admission.roster))
    known, parts = CompiledRegistries(folder), []
    for shard in range(shards):
        some = registry_part(document, of_shard(shard, shards))
        parts.append(packed(some))
        known.shard(parts[-1], settings.limits, partial(dict, some), finds=finds)
    return pickle.dumps(parts)


class Prepared(NamedTuple):
    """What the registry was, and what of it each of some shards will have."""

    chain: Chain
    parts: Sequence[bytes]

    def since(self, chain: Chain) -> tuple[Input, ...] | None:
        """What the registry has taken in since; None where nobody can tell any more."""
        known = self.chain.inputs
        if chain.snapshot == self.chain.snapshot:
            return chain.inputs[len(known) :]
        # it was packed again: the rest of what was known has to stand at the front
        left = [taken for taken in chain.inputs if taken in known]
        return chain.inputs[len(left) :] if left and known[-1] == left[-1] else None


class Preparing:
    """Gets ready for another number of shards, while a deployment goes on."""

    def __init__(self, files: Files, settings: Settings) -> None:
        self._files, self._settings = files, settings
        self._folding = Folding()
        self._begun: tuple[int, Chain] | None = None
        self.prepared: Prepared | None = None

    def is_ready(self, manifest: Manifest, shards: int) -> bool:
        """Whether to move now. It is asked again and again; what was begun for another number
        comes to its end first."""
        if is_small(manifest) or shards == len(manifest.shards):
            return True
        if self._begun is None:
            chain, finds = manifest.registry, manifest.finds
            self._begun = shards, chain
            task = partial(packed_parts, chain=chain, settings=self._settings)
            task = partial(task, shards=shards, finds=finds)
            self._folding.begin(self._files.folder, task, 0)
            return False
        folded = self._folding.taken()
        if self._folding.is_busy:
            return False
        (wanted, chain), self._begun = self._begun, None
        if wanted != shards:
            return False
        if folded is not None:
            self.prepared = Prepared(chain, pickle.loads(folded.packed))
        return True


def is_small(manifest: Manifest) -> bool:
    """Whether its registry is compiled sooner than a process begins."""
    return (manifest.subscriptions or 0) < LEAST_FOLDED


def rescale(
    registers: Registers,
    files: Files,
    shards: int,
    limits: Limits,
    prepared: Prepared | None = None,
) -> Manifest:
    """Moves shortlists to another number of shards; no answer changes.

    Raises `Moved` if a driver commits meanwhile.
    """
    revision, manifest = take_over(registers)
    files = files.of_epoch(manifest.epoch)
    asked = registers.register(SHARDS)
    if len(manifest.shards) != shards:
        manifest = replace(
            manifest,
            number=manifest.number + 1,
            shards=tuple(_rescaled(manifest, files, shards, limits, prepared)),
            committed=time.time_ns() // 1000,
        )
        files.settle()
        registers.put(MANIFEST, manifest.to_bytes(), revision)
    if asked is not None and asked.content == str(shards).encode():
        with suppress(Moved):  # somebody asks for another number just now
            registers.put(SHARDS, b"", asked.revision)
    return manifest


def ask_for_shards(registers: Registers, shards: int) -> None:
    """Tells the driver, which is elsewhere, to rescale when it is ready for that."""
    asked = registers.register(SHARDS)
    registers.put(SHARDS, str(shards).encode(), 0 if asked is None else asked.revision)


def shards_asked_for(registers: Registers) -> int | None:
    """The number of shards that somebody has asked for, and nobody has made yet."""
    asked = registers.register(SHARDS)
    return int(asked.content) if asked is not None and asked.content else None


def _rescaled(
    manifest: Manifest, files: Files, shards: int, limits: Limits, prepared: Prepared | None
) -> Iterator[Chain]:
    chains = manifest.shards
    kept = [
        KeptShard.restore(chain, files, limits, of_shard(shard, len(chains)), finds=manifest.finds)
        for shard, chain in enumerate(chains)
    ]
    since = prepared and prepared.since(manifest.registry)
    olds = [each.snapshot(whole=since is None) for each in kept]
    vocabulary = kept[0].shard.matching.vocabulary
    for shard in range(shards):
        concerns = of_shard(shard, shards)
        if prepared is None or since is None:
            state = joined([part(old, concerns) for old in olds])
        else:
            registry = prepared.parts[shard]
            state = joined([part(old, concerns, registry) for old in olds], registry)
            reader = ItemReader(vocabulary, limits.for_what_was_read(), again=True)
            later = carried_out(since, files, reader, concerns)
            state.document["changes"] = [*map(item_document, later)]
        yield write_state(state, files)
