"""What clients know of a deployment: its log, and through it its manifest and its registry; and
how they wait until it has come to what was sent."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from shortlist.live.files import Files
from shortlist.live.manifest import Manifest
from shortlist.live.places import announced, files_in
from shortlist.live.registers import NoDeployment, committed, has_deployment
from shortlist.log.base import DELIVERIES, HANDOVERS, REJECTS, Log
from shortlist.model.problem import ShortlistError
from shortlist.model.settings import UNLIMITED, TimeBasis

if TYPE_CHECKING:
    from shortlist.intake.roster import Roster
    from shortlist.model.vocabulary import Vocabulary

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Deployment:
    """The deployment that works on a log, if there is one."""

    log: Log

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
    def state(self) -> tuple[Manifest, Files]:
        """What it has committed last, with the files of that; `NoDeployment` says what is
        missing."""
        manifest, files = self.manifest, self.files
        if manifest is None or files is None:
            raise NoDeployment("expected a deployment whose state can be read here, found none")
        return manifest, files

    @property
    def vocabulary(self) -> Vocabulary:
        """Its vocabulary; one that allows everything where it cannot be known."""
        from shortlist.intake.lines import ItemReader
        from shortlist.intake.roster import Roster
        from shortlist.language.permissive import with_any_terms
        from shortlist.live.registry_state import carried_out, replay_registry
        from shortlist.model.command import Define
        from shortlist.model.vocabulary import Vocabulary

        try:
            manifest, files = self.state
        except NoDeployment:
            return with_any_terms(Vocabulary())
        chain = manifest.registry
        registry, _ = replay_registry(chain, files, UNLIMITED, lambda _: False)
        roster, reader = Roster(registry.vocabulary), ItemReader(registry.vocabulary, UNLIMITED)
        for command in carried_out(chain.inputs, files, reader, lambda name: name is None):
            if isinstance(command, Define):
                roster.apply(command)
        return roster.vocabulary.now()

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


class LiveRegistry:
    """The live nouns of a deployment, read on as they change. Threads may ask at the same time."""

    def __init__(self, deployment: Deployment) -> None:
        from shortlist.live.registry_state import FollowedRegistry

        self._deployment = deployment
        self._known = FollowedRegistry()
        self._lock = Lock()

    @property
    def vocabulary(self) -> Vocabulary:
        """As that of the deployment."""
        try:
            return self.ask(lambda roster: roster.vocabulary.now())
        except NoDeployment:
            return self._deployment.vocabulary

    def ask(self, question: Callable[[Roster], Answer]) -> Answer:
        """What the roster of the last commit answers; nobody changes it meanwhile, nor may the
        question. Raises `NoDeployment` where there is none, or its state cannot be read."""
        with self._lock:
            manifest, files = self._deployment.state
            self._known.read(manifest.registry, files)
            return question(self._known.roster)


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
    """Return whether deliveries, rejects and handovers are in the log: they come just after the
    commit."""
    has_rejects = log.end(REJECTS) >= manifest.rejects.end
    has_handovers = log.end(HANDOVERS) >= manifest.handovers.end
    return has_rejects and has_handovers and log.end(DELIVERIES) >= manifest.deliveries.end


def rejections(
    log: Log, manifest: Manifest, offsets: Collection[int], after: int = 0
) -> Iterator[tuple[int, str]]:
    """Which of these offsets were turned away, and why; read behind an offset of the rejects."""
    for entry in log.read(REJECTS, after):
        document = json.loads(entry.content)
        offset = int(document["position"]) - manifest.base
        if offset in offsets:
            yield offset, document["reason"]


def object_of(content: bytes) -> dict[str, Any] | None:
    """The JSON object that a line is; None if it is none, and was turned away."""
    from shortlist.intake.json_text import NotJson, parse_bytes

    with suppress(NotJson):
        found = parse_bytes(content)
        return found if isinstance(found, dict) else None
    return None


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


POLL_SECONDS = 0.2
"""How often a log is looked at for news."""


class NotKnown(ShortlistError):
    """What became of something is not known yet."""


class Awaited(NamedTuple):
    """Something at an offset of the input that time has to pass."""

    offset: int
    time: int | None
    """What it says of its time."""

    def manifest(self, deployment: Deployment) -> Manifest | None:
        """What is committed, if time has passed it, and what that led to, which comes just after
        the commit, is in the log; else None."""
        manifest = deployment.manifest
        if manifest is None or not has_passed(manifest, self.offset, self.time):
            return None
        return manifest if is_put_out(deployment.log, manifest) else None

    def standstill(self, deployment: Deployment) -> str:
        """Why it is not known yet."""
        manifest = deployment.manifest
        if manifest is None:
            return "no deployment works on this log"
        done = read_up_to(manifest)
        if done < self.offset:
            return f"the deployment has read up to {done:,}, and this is at {self.offset:,}"
        return "time has not passed it yet in the deployment"


def wait_for(is_so: Callable[[], bool], seconds: float) -> bool:
    """Whether something comes to be so within some time."""
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def wait_until_passed(deployment: Deployment, awaited: Awaited, patience: float) -> Manifest:
    """What is committed when time has passed it; raises `NotKnown` after so many seconds."""
    import asyncio  # whoever waits for nothing starts sooner without

    return asyncio.run(passed(deployment, awaited, patience))


async def passed(deployment: Deployment, awaited: Awaited, patience: float) -> Manifest:
    """The same without keeping a thread waiting."""
    import asyncio

    deadline = time.monotonic() + patience
    while True:
        manifest = await asyncio.to_thread(awaited.manifest, deployment)
        if manifest is not None:
            return manifest
        if time.monotonic() >= deadline:
            raise NotKnown(f"not known after {patience:g} s: {awaited.standstill(deployment)}")
        await asyncio.sleep(POLL_SECONDS)
