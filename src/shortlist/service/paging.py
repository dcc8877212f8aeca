"""Pages of a stream, for routes that show what a log holds."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

from fastapi import Query

from shortlist.log.base import Entry, Log

After = Annotated[int, Query(ge=0, lt=2**63, description="Behind this offset.")]
Most = Annotated[int, Query(ge=1, le=1000)]


def read_page(
    log: Log, stream: str, key: str, after: int, limit: int
) -> tuple[list[Entry], int | None]:
    """Entries of a key behind an offset, and where the following page begins, if there may be
    one."""
    entries = [*islice(log.read(stream, after, key=key), limit)]
    return entries, entries[-1].offset if len(entries) == limit else None
