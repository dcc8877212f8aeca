"""A batch over what a log holds: what a deployment should have delivered, and whether it did."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest
from typing import Any, NamedTuple

from shortlist.engine.engine import Engine, Result
from shortlist.engine.explanation import Question
from shortlist.engine.quarantine import PREFIX
from shortlist.engine.replay import line_reader
from shortlist.engine.saved import Saved
from shortlist.intake.files import registry_from_documents
from shortlist.live.files import Files
from shortlist.live.manifest import Manifest
from shortlist.log.base import DELIVERIES, INPUT, REJECTS, Log
from shortlist.model.problem import ShortlistError
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits, Settings

AT_ONCE = 10_000
"""Entries that are taken in together."""

Document = dict[str, Any]


class CannotReplay(ShortlistError, ValueError):
    """A log that does not hold all that its deployment has read."""


class Difference(NamedTuple):
    """A place at which a log has something else than a batch leads to."""

    what: str
    place: int
    found: Document | None
    expected: Document | None

    def __str__(self) -> str:
        """
        >>> print(Difference("deliveries", 7, None, {"publication": "f1"}))
        deliveries 7: expected {"publication": "f1"}, found nothing
        """
        return (
            f"{self.what} {self.place:,}: expected {_shown(self.expected)},"
            f" found {_shown(self.found)}"
        )


class Comparison(NamedTuple):
    """What a deployment has put out, beside a batch over the entries that it has read."""

    entries: int
    deliveries: int
    rejects: int
    differences: list[Difference]


def first_registry(manifest: Manifest, files: Files, limits: Limits) -> Registry:
    """What a deployment began with."""
    if manifest.base:
        raise CannotReplay(
            "expected a log with all that its deployment has read, found one that goes on behind"
            f" {manifest.base:,} entries of another"
        )
    saved = Saved.of_bytes(files.read(manifest.first_registry.name))
    return registry_from_documents(saved.registry, limits)


def replay_log(
    log: Log,
    registry: Registry,
    settings: Settings,
    until: int | None = None,
    question: Question | None = None,
    *,
    last: bool = True,
) -> Iterator[Result]:
    """What all entries of a log lead to, or those up to an offset, in parts; after the last entry
    time runs on.

    What the deployment has put aside is put aside here: the engine may fail on that, too, or not
    any more.
    """
    engine = Engine(registry, settings, question=question, waits_for_ties=True)
    documents = (json.loads(entry.content) for entry in log.read(REJECTS, 0))
    engine.admission.harmful = {
        int(document["position"]): document["reason"].removeprefix(PREFIX)
        for document in documents
        if document["position"] and document["reason"].startswith(PREFIX)
    }
    unread = log.read(INPUT, 0, until)
    while entries := [*islice(unread, AT_ONCE)]:
        offsets, appended, contents = zip(*entries, strict=True)
        read = line_reader(engine, registry, settings)
        yield engine.run(read.lines(offsets, contents, appended))
    if last:
        yield engine.process([], last=True)


def explain(
    log: Log, manifest: Manifest, registry: Registry, settings: Settings, question: Question
) -> list[Document]:
    """Why a deployment has delivered something so far, or has not: a batch over what it has read
    tells."""
    parts = replay_log(log, registry, settings, manifest.position, question, last=False)
    return [explanation for part in parts for explanation in part.explanations]


def compare(log: Log, manifest: Manifest, registry: Registry, settings: Settings) -> Comparison:
    """What a deployment has put out, beside a batch over what it has read, up to where it is."""
    last = manifest.is_finished
    parts = replay_log(log, registry, settings, manifest.position, last=last)
    rejects: list[Document] = []
    delivered = 0

    def deliveries() -> Iterator[Document]:
        nonlocal delivered
        for part in parts:
            for reject in part.rejects:
                rejects.append({"position": str(reject.position), "reason": reject.reason})
            for delivery in part.deliveries:
                delivered += 1
                yield delivery.document()

    differences = [*_differences(DELIVERIES, _delivered(log, manifest), deliveries())]
    found = _in_order(_rejected(log, manifest))
    differences += _differences(REJECTS, found, _in_order(rejects))
    return Comparison(manifest.position, delivered, len(rejects), differences)


def _delivered(log: Log, manifest: Manifest) -> Iterator[Document]:
    for entry in log.read(DELIVERIES, 0, manifest.deliveries.end):
        document = json.loads(entry.content)
        document.pop("data", None)
        yield document


def _rejected(log: Log, manifest: Manifest) -> Iterator[Document]:
    for entry in log.read(REJECTS, 0, manifest.rejects.end):
        document = json.loads(entry.content)
        yield {"position": document["position"], "reason": document["reason"]}


def _in_order(rejects: Iterable[Document]) -> list[Document]:
    """A deployment tells those of a batch together."""
    return sorted(rejects, key=lambda reject: (int(reject["position"]), reject["reason"]))


def _differences(
    what: str, found: Iterable[Document], expected: Iterable[Document]
) -> Iterator[Difference]:
    for place, (one, other) in enumerate(zip_longest(found, expected), start=1):
        if one != other:
            yield Difference(what, place, one, other)


def _shown(document: Document | None) -> str:
    return "nothing" if document is None else json.dumps(document, ensure_ascii=False)
