"""What becomes of commands: a client waits until a deployment has carried them out, or not."""

import json
import time
from collections.abc import Collection, Iterator, Sequence

from shortlist.cli.app import POLL_SECONDS, fail, notes
from shortlist.cli.deployment import Deployment, has_passed, read_up_to
from shortlist.intake.roster import Roster
from shortlist.live.manifest import Manifest
from shortlist.log.base import REJECTS, Log
from shortlist.model.command import Command, Update
from shortlist.model.policy_changes import outcome


def wait_until_passed(
    deployment: Deployment, offset: int, micros: int, patience: float
) -> Manifest:
    """What is committed when time has passed what stands at an offset; fails after so many
    seconds."""
    deadline = time.monotonic() + patience
    with notes.status("Waiting for the deployment"):
        while True:
            manifest = deployment.manifest
            if manifest is not None and _is_decided(manifest, deployment.log, offset, micros):
                return manifest
            if time.monotonic() >= deadline:
                fail([f"not known after {patience:g} s: {_standstill(manifest, offset)}"])
            time.sleep(POLL_SECONDS)


def rejections(
    log: Log, manifest: Manifest, offsets: Collection[int], after: int = 0
) -> Iterator[tuple[int, str]]:
    """Which of these offsets were turned away, and why; read behind an offset of the rejects."""
    for entry in log.read(REJECTS, after):
        document = json.loads(entry.content)
        offset = int(document["position"]) - manifest.base
        if offset in offsets:
            yield offset, document["reason"]


def effects(deployment: Deployment, commands: Sequence[Command]) -> list[str | None]:
    """What each command will do to what shortlists hold; None where there is nothing to say."""
    is_update = any(isinstance(command, Update) for command in commands)
    roster = deployment.roster() if is_update else None
    if roster is None:
        return [None] * len(commands)
    return [_effect(roster, command) for command in commands]


def _effect(roster: Roster, command: Command) -> str | None:
    if roster.refusal(command) is not None:
        return None
    said = None
    if isinstance(command, Update):
        name = roster.shortlist_of(command)
        assert name is not None
        before, made = roster.shortlists[name], roster.updated(command)
        after = made.shortlist or before
        said = f"shortlist {name!r} {outcome(before.policy, after.policy)}"
    roster.apply(command)
    return said


def _is_decided(manifest: Manifest, log: Log, offset: int, micros: int) -> bool:
    """Rejects come to the log just after the commit."""
    return has_passed(manifest, offset, micros) and log.end(REJECTS) >= manifest.rejects.end


def _standstill(manifest: Manifest | None, offset: int) -> str:
    if manifest is None:
        return "no deployment works on this log"
    done = read_up_to(manifest)
    if done < offset:
        return f"the deployment has read up to {done:,}, and this is at {offset:,}"
    return "time has not passed it yet in the deployment"
