"""Waiting for a deployment to come to what was sent, and what became of it."""

import time

from shortlist.cli.app import POLL_SECONDS, fail, notes
from shortlist.cli.deployment import Deployment, has_passed, is_put_out, read_up_to
from shortlist.live.manifest import Manifest


def wait_until_passed(
    deployment: Deployment, offset: int, micros: int | None, patience: float
) -> Manifest:
    """What is committed when time has passed what stands at an offset, and what it led to, which
    comes just after the commit, is in the log; fails after so many seconds."""
    deadline = time.monotonic() + patience
    with notes.status("Waiting for the deployment"):
        while True:
            manifest = deployment.manifest
            is_passed = manifest is not None and has_passed(manifest, offset, micros)
            if manifest and is_passed and is_put_out(deployment.log, manifest):
                return manifest
            if time.monotonic() >= deadline:
                fail([f"not known after {patience:g} s: {_standstill(manifest, offset)}"])
            time.sleep(POLL_SECONDS)


def _standstill(manifest: Manifest | None, offset: int) -> str:
    if manifest is None:
        return "no deployment works on this log"
    done = read_up_to(manifest)
    if done < offset:
        return f"the deployment has read up to {done:,}, and this is at {offset:,}"
    return "time has not passed it yet in the deployment"
