"""Snapshots of version 1, from when every shortlist had an object of its own."""

import json
import zlib
from typing import Any

import numpy as np
import pyarrow as pa

from shortlist.engine.bulk import BulkHalves
from shortlist.engine.saved import Saved, UnusableState
from shortlist.engine.saving import ACCEPTED
from shortlist.model.publication import Publication
from shortlist.selection.bank.adopted import ADOPT, Known, publications_in

VERSION_1 = b"\x78"
"""How they start: they are compressed as zlib does."""


def read_version_1(snapshot: bytes) -> Saved:
    """As it would be saved today, but for what shortlists hold: plain states, in `selecting`.

    Raises `UnusableState` where the bytes are something else.
    """
    try:
        document = json.loads(zlib.decompress(snapshot))
        version = document["version"]
    except (zlib.error, ValueError, KeyError, TypeError) as error:
        raise UnusableState(f"expected a whole state, found a damaged one: {error}") from None
    if version != 1:
        raise UnusableState(f"expected a snapshot of version 1, found {version}")
    accepted = [dict(zip(ACCEPTED.names, row, strict=True)) for row in document["duplicates"]]
    tables = {"accepted": pa.RecordBatch.from_pylist(accepted, schema=ACCEPTED)}
    return Saved({**document, "number": 0, "serials": 0}, tables)


def adopt_states(states: dict[str, Any], halves: BulkHalves) -> None:
    """Puts the plain states of shortlists, by id, into banks that have seen nothing yet."""
    selecting, matching = halves.selecting, halves.matching
    stages = {
        name: stage
        for name in states
        for stage in selecting.stages[matching.shortlists.number(name)]
    }
    publications = {
        _key(publication): publication
        for name, stage in stages.items()
        for publication in publications_in(stage.kind, states[name])
    }
    in_order = sorted(publications)
    selecting.publications.restore(
        [publications[key] for key in in_order], np.arange(len(in_order)), len(in_order)
    )
    numbers = {key: number for number, key in enumerate(in_order)}
    known = Known(lambda publication: numbers[_key(publication)], matching.number)
    for name, (kind, place) in stages.items():
        bank = selecting.levels[0].banks[kind]
        ADOPT[kind](bank, place, states[name], known)
        for arena in bank.arenas:
            arena.heads["touched"][place] = 0


def _key(publication: Publication) -> tuple[int, int, str, str]:
    """What tells publications apart, in the order in which they appeared."""
    return publication.time, publication.position, publication.source, publication.id
