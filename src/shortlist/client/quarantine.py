"""What a deployment has put aside because its engine fails on it."""

from __future__ import annotations

from typing import Any

from shortlist.client.deployment import Deployment
from shortlist.live.registers import NoDeployment
from shortlist.model.times import format_time


def in_quarantine(deployment: Deployment) -> list[dict[str, Any]]:
    """What is there at present, in the order in which it was put there: its position, time and
    line, and why."""
    from shortlist.engine.arrow import rows
    from shortlist.engine.quarantine import Quarantined
    from shortlist.live.segments import Segments
    from shortlist.live.tables import QUARANTINE

    manifest, files = deployment.manifest, deployment.files
    if manifest is None or files is None:
        raise NoDeployment("expected a deployment whose state can be read here, found none")
    found = Segments(files, "quarantine", QUARANTINE).rows(manifest.quarantine)
    items = (Quarantined(*row) for row in rows(found.to_batches()))
    return [item._asdict() | {"time": format_time(item.time)} for item in items]
