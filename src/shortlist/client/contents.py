"""What shortlists show at present, and why."""

import json
from dataclasses import dataclass
from typing import Any

from shortlist.client.deployment import UNLIMITED, Deployment
from shortlist.engine.contents import Entry
from shortlist.live.looking import looked_at
from shortlist.live.manifest import Manifest
from shortlist.live.registers import NoDeployment
from shortlist.log.base import INPUT, Log
from shortlist.model.policy import policies_of
from shortlist.model.shortlist import Shortlist
from shortlist.model.times import format_time


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A shortlist, and what it shows at an instant, the best first."""

    shortlist: Shortlist
    entries: list[Entry]
    data: list[Any] | None
    """Of each entry, if it was asked for."""
    manifest: Manifest

    @property
    def policies(self) -> list[str]:
        return [policy.kind for policy in policies_of(self.shortlist.policy)]

    @property
    def time(self) -> str | None:
        """The instant; None before the first."""
        reached = self.manifest.reached
        return None if reached is None else format_time(reached)

    def document(self) -> dict[str, Any]:
        """The JSON object that is shown."""
        shown = [entry.document() for entry in self.entries]
        for document, found in zip(shown, self.data or (), strict=False):
            document["data"] = found
        head = {"shortlist": self.shortlist.id, "subscriber": self.shortlist.subscriber}
        return {**head, "time": self.time, "policy": self.policies, "shows": shown}


def content_of(deployment: Deployment, shortlist: str, *, with_data: bool = False) -> Content:
    """What a shortlist shows now; `NoDeployment` or `NoSuchShortlist` where there is none."""
    manifest, files = deployment.manifest, deployment.files
    if manifest is None or files is None:
        raise NoDeployment("expected a deployment, found none: start one with `shortlist up`")
    live, entries = looked_at(manifest, files, shortlist, UNLIMITED)
    data = [_data(entry, deployment.log, manifest) for entry in entries] if with_data else None
    return Content(shortlist=live, entries=entries, data=data, manifest=manifest)


def _data(entry: Entry, log: Log, manifest: Manifest) -> Any:
    """A publication's data, as its line in the log has it; None if that is another log."""
    offset = entry.publication.position - manifest.base
    for line in log.read(INPUT, offset - 1, offset) if offset > 0 else ():
        return json.loads(line.content.decode("utf-8-sig")).get("data") or {}
    return None
