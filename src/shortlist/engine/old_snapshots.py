"""Snapshots of version 1, from when every shortlist had an object of its own."""

import json
import zlib
from typing import Any

from shortlist.engine.saved import UnusableState

VERSION_1 = b"\x78"
"""How they start: they are compressed as zlib does."""


def read_version_1(snapshot: bytes) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(zlib.decompress(snapshot))
    if document["version"] != 1:
        raise UnusableState(f"expected a snapshot of version 1, found {document['version']}")
    return document
