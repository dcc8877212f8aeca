"""Waiting for a deployment to come to what was sent."""

import time
from collections.abc import Callable
from typing import NamedTuple

from shortlist.client.deployment import Deployment, has_passed, is_put_out, read_up_to
from shortlist.live.manifest import Manifest
from shortlist.model.problem import ShortlistError

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
