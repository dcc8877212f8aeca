"""What must be true of a deployment's log in the end."""

import json
from collections import Counter
from typing import NamedTuple

from shortlist import replay
from shortlist.engine.engine import Engine
from shortlist.engine.replay import line_reader
from shortlist.live.savepoint import committed
from shortlist.log.base import DELIVERIES, INPUT, REJECTS

END = b'{"time": "2100-01-01T00:00:00Z", "heartbeat": true}'
"""With this at the end of the input everything is due."""


class Verdict(NamedTuple):
    """How much is wrong, and how much there was."""

    lost: int
    """Acknowledged lines that were not read as often as they were acknowledged."""
    twice: int
    """Deliveries that are there more often than they should be."""
    different: int
    """Deliveries and rejects that are not those of the engine, or not in its order."""
    lines: int
    deliveries: int
    rejects: int

    @property
    def faults(self):
        return self.lost + self.twice + self.different


def is_done(log, end):
    """Whether the input was read up to an offset, and all that came of it is in the log. Of more
    than that nobody can be sure: heartbeats go on."""
    manifest = committed(log)[1]
    return (
        manifest.position >= end
        and manifest.deliveries.end == log.end(DELIVERIES)
        and manifest.rejects.end == log.end(REJECTS)
    )


def verdict(log, registry, settings, acknowledged, *, so_far=False):
    """Compares a log with the engine on those lines of its input that the deployment has read: when
    time has run on to its end, or at the instant of the last of them."""
    entries = [*log.read(INPUT, 0, committed(log)[1].position)]
    lines = [entry.content for entry in entries]
    if so_far:
        expected = _replayed(entries, registry, settings)
    else:
        expected = replay(registry, [line.decode() for line in lines], settings)
    delivered = [entry.content.decode() for entry in log.read(DELIVERIES, 0)]
    refused = sorted(
        (int(reject["position"]), reject["reason"])
        for reject in (json.loads(entry.content) for entry in log.read(REJECTS, 0))
    )
    ids = Counter(json.loads(line)["id"] for line in delivered)
    documents = [each.document() for each in expected.deliveries]
    right = Counter(document["id"] for document in documents)
    return Verdict(
        lost=(Counter(acknowledged) - Counter(lines)).total(),
        twice=sum(max(0, times - max(1, right[name])) for name, times in ids.items()),
        different=_differences(
            delivered, [json.dumps(document, ensure_ascii=False) for document in documents]
        )
        + _differences(refused, [(each.position, each.reason) for each in expected.rejects]),
        lines=len(lines),
        deliveries=len(delivered),
        rejects=len(refused),
    )


def _replayed(entries, registry, settings):
    """What entries lead to at the instant of the last of them."""
    engine = Engine(registry, settings, waits_for_ties=True)
    offsets, appended, contents = zip(*entries, strict=True)
    read = line_reader(engine, registry, settings)
    result = engine.run(read.lines(offsets, contents, appended))
    result.rejects.sort(key=lambda reject: (reject.position, reject.reason))
    return result


def _differences(found, expected):
    places = sum(one != other for one, other in zip(found, expected, strict=False))
    return places + abs(len(found) - len(expected))
