"""The tasks of a batch: whom publishers reach, what matches, what shards deliver."""

import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from shortlist.engine.admitted import Admitted
from shortlist.engine.matching import NOMINATIONS
from shortlist.engine.quarantine import Harmful
from shortlist.live.audiences import Inquiry, nominated, reached
from shortlist.live.files import Files, Stored
from shortlist.live.manifest import Input, Manifest
from shortlist.live.matching_stage import Matched, MatchWork, gathered, match
from shortlist.live.plans import Choice
from shortlist.live.poison import TaskFailed, attempted, find_harmful, succeeded
from shortlist.live.shard import Done, Work
from shortlist.live.shard import run as run_shard
from shortlist.live.tables import joined, of_bytes, to_bytes
from shortlist.model.counts import OTHER_TYPE
from shortlist.model.items import COMMAND, Items
from shortlist.model.settings import Limits


class Laps:
    """What took how long: seconds from one lap to the next.

    >>> laps = Laps()
    >>> laps.lap("reading")
    >>> [*laps.seconds]
    ['reading']
    """

    def __init__(self) -> None:
        self._since = time.monotonic()
        self.seconds: dict[str, float] = {}

    def lap(self, name: str) -> None:
        now = time.monotonic()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._since
        self._since = now


class OfShard(Protocol):
    """Work for one shard."""

    @property
    def shard(self) -> int: ...


W = TypeVar("W", bound=OfShard)
D = TypeVar("D")


class Run(Protocol):
    """Has a task done for each of several shards, wherever."""

    def __call__(self, task: Callable[[W], D], works: Sequence[W]) -> Sequence[D]: ...


def idle_works(manifest: Manifest, files: Files, limits: Limits) -> list[Work]:
    """Work without any items: nothing comes of it but shards that are ready for the next."""
    return [
        Work(
            **_every(manifest, files.of_epoch(manifest.epoch), limits),
            shard=shard,
            chain=chain,
            until=None,
            finds=manifest.finds,
        )
        for shard, chain in enumerate(manifest.shards)
    ]


def _every(manifest: Manifest, files: Files, limits: Limits) -> dict[str, Any]:
    """What all works of a batch are told."""
    folder, shards = str(files.folder), len(manifest.shards)
    return {"folder": folder, "epoch": files.epoch, "shards": shards, "limits": limits}


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A batch of a driver, which may be attempted with some of its items only."""

    run: Run
    files: Files
    limits: Limits
    with_data: bool
    with_departures: bool
    found: Admitted
    manifest: Manifest
    choice: Choice
    since: int | None
    laps: Laps

    def done(self) -> tuple[list[Done], str]:
        """What came of the items, and the token of the registry behind them.

        Raises `Harmful` where the engine fails on some of them, and `TaskFailed` where it fails
        without any, or now and then.
        """
        try:
            return self.attempt(self.found.items)
        except TaskFailed as failure:
            harmful = find_harmful(self.found.items, self.attempt)
            self.laps.lap("quarantine")
            if harmful:
                raise Harmful(harmful) from failure
            return self.attempt(self.found.items)

    def attempt(self, items: Items) -> tuple[list[Done], str]:
        """Two attempts that see different items need different tokens."""
        found, registry = self.found, self.manifest.registry
        following = uuid.uuid4().hex if found.commands else registry.token
        passed = None
        if len(items):
            passed = self.files.store("items", to_bytes(_for_shards(items)))
        chosen = self._chosen(items, passed, following)
        matched = self._matched(passed, following)
        self.laps.lap("matching")
        done = self._tried(run_shard, self._works(passed, chosen, matched))
        self.laps.lap("shards")
        if matched is not None:
            other = {f"{OTHER_TYPE}{name}": count for name, count in matched.other_type.items()}
            done[0] = replace(done[0], counts=dict(Counter(done[0].counts) + Counter(other)))
        return done, following

    def _tried(self, task: Callable[[W], D], works: Sequence[W]) -> list[D]:
        """Raises `TaskFailed` where an engine failed."""
        return succeeded(self.run(partial(attempted, task), works))

    def _works(
        self, passed: Stored | None, chosen: str | None, matched: Matched | None
    ) -> list[Work]:
        every = _every(self.manifest, self.files, self.limits)
        return [
            Work(
                **every,
                shard=shard,
                chain=chain,
                until=self.found.until,
                finds=matched is None,
                taken=passed and _input(passed, chosen, matched, shard),
                with_data=self.with_data,
                with_departures=self.with_departures,
                since=self.since,
            )
            for shard, chain in enumerate(self.manifest.shards)
        ]

    def _chosen(self, items: Items, passed: Stored | None, following: str) -> str | None:
        """Whom publishers with an audience reach, as a file."""
        if passed is None or items.batch.column("reach").null_count == len(items):
            return None
        files, told = self.files, self._told(passed, following)
        chains = enumerate(self.manifest.shards)
        inquiries = [Inquiry(**told, shard=shard, chain=chain) for shard, chain in chains]
        named = (of_bytes(files.read(name)) for name in self._tried(nominated, inquiries))
        return files.write("chosen", to_bytes(reached(joined(named, NOMINATIONS))))

    def _matched(self, passed: Stored | None, following: str) -> Matched | None:
        """What lanes find, where shards do not match for themselves."""
        choice = self.choice
        if choice.plan == "replicate":
            return None
        if passed is None:
            return Matched([()] * len(self.manifest.shards))
        told = {**self._told(passed, following), "registry": self.manifest.registry}
        lanes, key = choice.lanes, choice.key
        works = [MatchWork(**told, shard=lane, lanes=lanes, key=key) for lane in range(lanes)]
        return gathered(self._tried(match, works))

    def _told(self, items: Stored, following: str) -> dict[str, Any]:
        """What those are told who match with a part of the registry."""
        every = _every(self.manifest, self.files, self.limits)
        before = self.manifest.registry.token
        return {**every, "before": before, "following": following, "items": items}


def _input(items: Stored, chosen: str | None, matched: Matched | None, shard: int) -> Input:
    if matched is None:
        return Input(items=items, chosen=chosen)
    pieces, replacing = matched.by_shard[shard], matched.replacing
    return Input(items=items, chosen=chosen, matches=pieces, replacing=replacing)


def _for_shards(items: Items) -> pa.Table:
    """Items without what only an admission asks for: of publications, the lines they came in."""
    # nothing is taken at a null, while `if_else` would leave room for every line
    commands = pa.array(np.arange(len(items)), mask=items.kinds != COMMAND)
    line = items.batch.column("line").take(commands)
    lean = items.with_columns(line=line).without(["reason", "appended"])
    return pa.Table.from_batches([lean.batch])
