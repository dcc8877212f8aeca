"""A batch over what a log holds: what a deployment should have delivered, and whether it did."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice, zip_longest
from typing import Any, NamedTuple

import numpy as np

from shortlist.engine.engine import Engine, Result
from shortlist.engine.explanation import Question
from shortlist.engine.quarantine import PREFIX
from shortlist.engine.replay import line_reader
from shortlist.engine.saved import Saved
from shortlist.intake.files import registry_from_documents
from shortlist.intake.reading import LineReader, rejects_of
from shortlist.live.files import Files
from shortlist.live.manifest import Manifest
from shortlist.log.base import DELIVERIES, INPUT, REJECTS, Entry, Log
from shortlist.model.command import Update
from shortlist.model.items import Items
from shortlist.model.problem import ShortlistError
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits, Settings

AT_ONCE = 10_000
"""Entries that are taken in together."""
# What the message of every limit says. A reject that says so for another reason is taken over from
# the deployment as well, which changes nothing.
OVER_A_LIMIT = re.compile(r"\bat most \d+ ")

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
    """Return what a deployment began with."""
    _check_whole(manifest)
    saved = Saved.of_bytes(files.read(manifest.first_registry.name))
    return registry_from_documents(saved.registry, limits.for_what_was_read())


def _check_whole(manifest: Manifest) -> None:
    """Raise `CannotReplay` unless the log has all that its deployment has read."""
    if manifest.base:
        raise CannotReplay(
            "expected a log with all that its deployment has read, found one that goes on behind"
            f" {manifest.base:,} entries of another"
        )


def replay_log(
    log: Log,
    registry: Registry,
    settings: Settings,
    until: int | None = None,
    question: Question | None = None,
    *,
    last: bool = True,
    decided: int = 0,
    base: int = 0,
) -> Iterator[Result]:
    """Yield, in parts, what all entries of a log lead to, or those up to the offset `until`.

    After the last entry time runs on. Up to the offset `decided` a deployment has decided which
    entries are within its limits: limits are not asked again there, and what it rejected for one is
    rejected with the same words. What it has put aside is put aside here: the engine may fail on
    that, too, or not any more. The deployment's positions are `base` more than the log's offsets.
    """
    accepted = replace(settings, limits=settings.limits.for_what_was_read())
    # an update is judged beside what is live; the few of a replay that no deployment has judged
    # yet are taken as they are
    engine = Engine(
        registry, accepted if decided else settings, question=question, waits_for_ties=True
    )
    harmful, over_limits = _rejected_for(log, base) if decided else ({}, {})
    engine.admission.harmful, engine.admission.over_limits = harmful, over_limits
    unread = log.read(INPUT, 0, until)
    while entries := [*islice(unread, AT_ONCE)]:
        for is_decided, some in groupby(entries, lambda entry: entry.offset <= decided):
            read = line_reader(engine, registry, accepted if is_decided else settings)
            yield engine.run(_read(read, [*some], over_limits))
    if last:
        yield engine.process([], last=True)


def _rejected_for(log: Log, base: int) -> tuple[dict[int, str], dict[int, str]]:
    """Return the reasons of rejects by offset: of what was put aside, and of what is over a limit.

    All other rejects follow from the entries, and there may be as many as entries: they are not
    kept.
    """
    harmful: dict[int, str] = {}
    over_limits: dict[int, str] = {}
    for entry in log.read(REJECTS, 0):
        document = json.loads(entry.content)
        # what waited when a deployment was moved here stands in the log that it came from
        if not document["position"] or (offset := int(document["position"]) - base) <= 0:
            continue
        reason = document["reason"]
        if reason.startswith(PREFIX):
            harmful[offset] = reason.removeprefix(PREFIX)
        elif OVER_A_LIMIT.search(reason):
            over_limits[offset] = reason
    return harmful, over_limits


def _read(read: LineReader, entries: Sequence[Entry], over_limits: Mapping[int, str]) -> Items:
    """Entries as items; those over a limit as the rejects that they were."""
    offsets, appended, contents = zip(*entries, strict=True)
    items = read.lines(offsets, contents, appended)
    over = [
        entry
        for entry in entries
        # an update was readable, and its time counted
        if entry.offset in over_limits and not isinstance(read.commands.get(entry.offset), Update)
    ]
    if not over:
        return items
    positions = [entry.offset for entry in over]
    lines = [entry.content.decode(errors="replace") for entry in over]
    reasons = [over_limits[position] for position in positions]
    refused = rejects_of(positions, lines, reasons, items.told)
    rest = items.kept(~np.isin(items.positions, positions))
    together = Items.joined([refused, rest])
    return together.taken(np.argsort(together.positions, kind="stable"))


def explain(
    log: Log, manifest: Manifest, registry: Registry, settings: Settings, question: Question
) -> list[Document]:
    """Why a deployment has delivered something so far, or has not: a batch over what it has read
    tells."""
    position = manifest.position
    parts = replay_log(log, registry, settings, position, question, last=False, decided=position)
    return [explanation for part in parts for explanation in part.explanations]


def compare(log: Log, manifest: Manifest, registry: Registry, settings: Settings) -> Comparison:
    """Compare what a deployment has put out with a batch over what it has read so far."""
    _check_whole(manifest)
    last = manifest.is_finished
    position = manifest.position
    parts = replay_log(log, registry, settings, position, last=last, decided=position)
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
