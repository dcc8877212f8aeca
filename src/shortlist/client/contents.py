"""What shortlists show at present."""

import json
from typing import Any

from shortlist.client.deployment import Deployment
from shortlist.engine.contents import Entry
from shortlist.live.looking import looked_at
from shortlist.live.manifest import Manifest
from shortlist.live.registers import NoDeployment
from shortlist.log.base import INPUT, Log
from shortlist.model.policy import policies_of
from shortlist.model.settings import UNLIMITED
from shortlist.model.times import format_time


def content_of(
    deployment: Deployment, shortlist: str, *, with_data: bool = False
) -> tuple[dict[str, Any], Manifest]:
    """A shortlist and what it shows now, the best first, as a JSON object, and the commit that this
    is of; `NoDeployment` or `NoSuchShortlist` where there is none."""
    manifest, files = deployment.manifest, deployment.files
    if manifest is None or files is None:
        raise NoDeployment("expected a deployment, found none: start one with `shortlist up`")
    live, entries = looked_at(manifest, files, shortlist, UNLIMITED)
    shown = [entry.document() for entry in entries]
    for document, entry in zip(shown, entries, strict=True) if with_data else ():
        document["data"] = _data(entry, deployment.log, manifest)
    content = {
        "shortlist": live.id,
        "subscriber": live.subscriber,
        "time": None if manifest.reached is None else format_time(manifest.reached),
        "policy": [policy.kind for policy in policies_of(live.policy)],
        "shows": shown,
    }
    return content, manifest


def _data(entry: Entry, log: Log, manifest: Manifest) -> Any:
    """A publication's data, as its line in the log has it; None if that is another log."""
    offset = entry.publication.position - manifest.base
    for line in log.read(INPUT, offset - 1, offset) if offset > 0 else ():
        return json.loads(line.content.decode("utf-8-sig")).get("data") or {}
    return None
