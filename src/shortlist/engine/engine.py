"""The engine: a batch of timeline items in, deliveries and rejects out."""

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from shortlist.engine.duplicates import Duplicates
from shortlist.engine.explanation import Explainer, Question
from shortlist.engine.finding import Published
from shortlist.engine.halves import MakeMatcher, Matching, Selecting
from shortlist.engine.items import item_document, registry_document
from shortlist.engine.ordering import Late, Ordering
from shortlist.intake.files import registry_from_documents
from shortlist.intake.lines import ItemReader
from shortlist.intake.roster import registry_commands
from shortlist.matching.index.index import Index
from shortlist.matching.values import Reader
from shortlist.model.command import Command, Item
from shortlist.model.delivery import Delivery
from shortlist.model.problem import Reject
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.model.times import parse_time
from shortlist.scoring.candidates import Candidate
from shortlist.selection.audience import Inducement

SNAPSHOT_VERSION = 1
BLOCK = 512
"""Publications that are matched together: as many as a mask has bits."""
END_OF_TIME = parse_time("9999-12-31T23:59:59.999999Z") + 1
"""Just after the last instant that RFC 3339 can write: nothing is delivered later."""


@dataclass(slots=True)
class Result:
    """What a batch of items led to."""

    deliveries: list[Delivery] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    explanations: list[dict[str, Any]] = field(default_factory=list)


class _Admitted(NamedTuple):
    """A publication that waits for the end of its block, and whom its publisher wants to reach."""

    publication: Publication
    read: Reader
    inducement: Inducement | None


class Engine:
    """Pure and deterministic: no clock, no input or output, no randomness.

    >>> from shortlist.intake.files import registry_from_documents
    >>> from shortlist.model.publication import Publication
    >>> cheapest = {"id": "cheapest", "score": "-rent", "policy": {"kind": "top-k", "k": 1}}
    >>> engine = Engine(registry_from_documents({"subscriptions": [cheapest]}))
    >>> flats = [Publication(id=name, source="ads", time=n, position=n, data={"rent": rent})
    ...          for n, (name, rent) in enumerate([("a", 850), ("b", 870), ("c", 800)])]
    >>> result = engine.process(flats, last=True)
    >>> [(delivery.publication.id, delivery.score) for delivery in result.deliveries]
    [('a', -850.0), ('c', -800.0)]
    """

    def __init__(
        self,
        registry: Registry | None = None,
        settings: Settings | None = None,
        matcher: MakeMatcher = Index,
        question: Question | None = None,
    ) -> None:
        registry = registry or Registry()
        self._settings = settings or Settings()
        self._vocabulary = registry.vocabulary
        self._matching = Matching(registry.vocabulary, self._settings.limits, matcher)
        self._selecting = Selecting()
        self._ordering = Ordering(self._settings.lateness)
        self._duplicates = Duplicates(self._settings.dedup)
        self._explainer = Explainer(question, self._matching, self._selecting) if question else None
        self._admitted: list[_Admitted] = []
        # reasons are told as they stand at each publication
        self._most = 1 if question else BLOCK
        for command in registry_commands(registry):
            self._carry_out(command)

    def process(self, items: Iterable[Item], last: bool = False) -> Result:
        """Takes the next items of the input; after the `last` ones time runs on to its end."""
        result = Result()
        for item in items:
            try:
                self._ordering.push(item)
            except Late as late:
                self._reject(item, str(late), result)
        for item in self._ordering.rest() if last else self._ordering.released():
            if isinstance(item, Publication):
                self._admit(item, result)
                if len(self._admitted) == self._most:
                    self._publish(result)
            else:
                self._publish(result)
                self._command(item, result)
        self._publish(result)
        reached = self._ordering.latest
        if last:
            result.deliveries += self._selecting.advance(END_OF_TIME)
        elif reached is not None and self._settings.lateness is not None:
            result.deliveries += self._selecting.advance(reached - self._settings.lateness)
        result.deliveries.sort(key=lambda delivery: delivery.order)
        if self._explainer:
            result.explanations += self._explainer.taken(result.deliveries)
        return result

    @property
    def counts(self) -> dict[str, Any]:
        """Work done so far: matches, deliveries by cause, values of another type by attribute."""
        return {**self._selecting.counts, "other_type": dict(self._matching.census.mismatches)}

    def snapshot(self) -> bytes:
        """Everything that `restore` needs to go on as if nothing had happened."""
        document = {
            "version": SNAPSHOT_VERSION,
            "registry": registry_document(self._matching.roster.registry(self._vocabulary)),
            "selecting": self._selecting.state(),
            "counts": self.counts,
            "duplicates": self._duplicates.state(),
            "latest": self._ordering.latest,
            "waiting": [[item.position, item_document(item)] for item in self._ordering.waiting()],
        }
        return zlib.compress(json.dumps(document, separators=(",", ":")).encode())

    @classmethod
    def restore(
        cls, snapshot: bytes, settings: Settings | None = None, matcher: MakeMatcher = Index
    ) -> "Engine":
        """The engine that a snapshot was taken of."""
        document = json.loads(zlib.decompress(snapshot))
        if document["version"] != SNAPSHOT_VERSION:
            raise ValueError(
                f"expected a snapshot of version {SNAPSHOT_VERSION}, found {document['version']}"
            )
        limits = (settings or Settings()).limits
        registry = registry_from_documents(document["registry"], limits)
        engine = cls(registry, settings, matcher)
        engine._selecting.restore(document["selecting"])
        other_type = document["counts"].pop("other_type")
        engine._matching.census.mismatches.update(other_type)
        engine._selecting.counts.update(document["counts"])
        engine._duplicates.restore(document["duplicates"])
        read = ItemReader(registry.vocabulary, limits)
        waiting = [read.document(held, position) for position, held in document["waiting"]]
        engine._ordering.restore(document["latest"], waiting)
        return engine

    def _admit(self, publication: Publication, result: Result) -> None:
        """Lets a publication in, to be matched together with its neighbours, or turns it away."""
        if self._duplicates.is_repeated(publication.source, publication.id, publication.time):
            self._reject(publication, "duplicate", result)
            return
        if publication.dead_on_arrival:
            self._accept(publication)
            if self._explainer:
                self._explainer.turned_away(publication, "expired on arrival")
            return
        read = self._matching.read(publication)
        inducement = self._matching.advertisements.induce(publication, read)
        if inducement is None and self._settings.advertised == "required":
            self._reject(publication, "unadvertised", result)
            return
        self._accept(publication)
        self._admitted.append(_Admitted(publication, read, inducement))

    def _publish(self, result: Result) -> None:
        """Offers all that was let in to every shortlist that it matches."""
        if not self._admitted:
            return
        publications, reads, inducements = zip(*self._admitted, strict=True)
        limited = [inducement is not None for inducement in inducements]
        wants_objects = np.array(limited) | (self._explainer is not None)
        found = self._matching.find(Published.of(publications, reads), wants_objects)
        result.deliveries += self._selecting.deliver(publications, found)
        for admitted, candidates in zip(self._admitted, found.candidates, strict=True):
            self._arrive(admitted, candidates, result)
        self._admitted = []

    def _arrive(
        self, admitted: "_Admitted", candidates: Sequence[Candidate], result: Result
    ) -> None:
        publication, read, inducement = admitted
        audience = None
        if inducement is not None:
            nominations = self._matching.nominations(inducement, read, candidates)
            audience = {nomination.shortlist for nomination in nominations}
        outcomes = {}
        for candidate in candidates:
            if audience is None or candidate.shortlist in audience:
                deliveries, outcomes[candidate.shortlist] = self._selecting.arrive(candidate)
                result.deliveries += deliveries
        if self._explainer:
            self._explainer.published(publication, read, candidates, outcomes, inducement)

    def _accept(self, publication: Publication) -> None:
        self._duplicates.accept(publication.source, publication.id, publication.time)

    def _command(self, command: Command, result: Result) -> None:
        refusal = self._matching.roster.refusal(command)
        if refusal is None:
            result.deliveries += self._carry_out(command)
        else:
            self._reject(command, refusal, result)

    def _carry_out(self, command: Command) -> list[Delivery]:
        deliveries = self._selecting.apply(command, self._matching.roster)
        self._matching.apply(command)
        return deliveries

    def _reject(self, item: Item, reason: str, result: Result) -> None:
        result.rejects.append(Reject(item.position, reason))
        if self._explainer and isinstance(item, Publication):
            self._explainer.turned_away(item, reason)
