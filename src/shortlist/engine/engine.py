"""The engine: a batch of timeline items in, deliveries and rejects out."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from shortlist.engine.admitted import Admitted
from shortlist.engine.bulk import BulkHalves
from shortlist.engine.duplicates import Duplicates
from shortlist.engine.explanation import Explainer, Question
from shortlist.engine.ordering import Late, Ordering
from shortlist.engine.plain import PlainHalves
from shortlist.engine.saved import Saved, UnusableState
from shortlist.engine.saving import Saving
from shortlist.engine.status import status
from shortlist.intake.files import registry_from_documents
from shortlist.intake.roster import registry_commands
from shortlist.matching.base import Matcher
from shortlist.matching.index.index import Index
from shortlist.model.command import Command, Item
from shortlist.model.delivery import Delivery
from shortlist.model.problem import Reject
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits, Settings
from shortlist.model.times import parse_time
from shortlist.model.vocabulary import Vocabulary

MakeMatcher = Callable[[Vocabulary, Limits], Matcher]
END_OF_TIME = parse_time("9999-12-31T23:59:59.999999Z") + 1
"""Just after the last instant that RFC 3339 can write: nothing is delivered later."""


@dataclass(slots=True)
class Result:
    """What a batch of items led to."""

    deliveries: list[Delivery] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    explanations: list[dict[str, Any]] = field(default_factory=list)


class Engine:
    """Pure and deterministic: no clock, no input or output, no randomness.

    With the compiled index everything is done in bulk. With another matcher, and where there is a
    question, it is done plainly: one publication after the other, and without snapshots.

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
        self._ordering: Ordering[Item] = Ordering(self._settings.lateness)
        self._duplicates = Duplicates(self._settings.dedup)
        self._halves: BulkHalves | PlainHalves
        self._explainer: Explainer | None = None
        self._saving: Saving | None = None
        vocabulary, limits = registry.vocabulary, self._settings.limits
        made = matcher(vocabulary, limits)
        if question is None and isinstance(made, Index):
            self._halves = BulkHalves(vocabulary, limits, made)
            self._saving = Saving(self._halves, self._duplicates, self._ordering)
        else:
            self._halves = PlainHalves(vocabulary, limits, made, question)
            self._explainer = self._halves.explainer
        self._admitted: list[Admitted] = []
        for command in registry_commands(registry):
            self._halves.apply(command)

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
                if len(self._admitted) == self._halves.at_once:
                    self._publish(result)
            else:
                self._publish(result)
                self._command(item, result)
        self._publish(result)
        reached = self._ordering.latest
        if last:
            result.deliveries += self._halves.advance(END_OF_TIME)
        elif reached is not None and self._settings.lateness is not None:
            result.deliveries += self._halves.advance(reached - self._settings.lateness)
        result.deliveries.sort(key=lambda delivery: delivery.order)
        if self._explainer:
            result.explanations += self._explainer.taken(result.deliveries)
        return result

    @property
    def counts(self) -> dict[str, Any]:
        """Work done so far: matches, deliveries by cause, values of another type by attribute."""
        return self._halves.work

    def status(self) -> dict[str, Any]:
        """What is held, by kind of policy, and warnings for whoever runs it."""
        return status(self._in_bulk)

    def snapshot(self) -> bytes:
        """Everything that `restore` needs to go on as if nothing had happened."""
        return self._saves.snapshot()

    def changes(self) -> bytes:
        """What has happened since the last snapshot or the last changes.

        In proportion to what is different now, not to what is kept: shortlists that nothing came to
        take no room.

        >>> prompt = Settings(lateness=0)
        >>> engine = Engine(settings=prompt)
        >>> before = engine.snapshot()
        >>> some = [Publication(id="n1", source="cinema", time=0, position=1)]
        >>> _ = engine.process(some)
        >>> Engine.restore(before, prompt, [engine.changes()]).process(some).rejects
        [Reject(position=1, reason='duplicate')]
        """
        return self._saves.changes()

    @classmethod
    def restore(
        cls,
        snapshot: bytes,
        settings: Settings | None = None,
        changes: Sequence[bytes] = (),
    ) -> "Engine":
        """The engine that a snapshot was taken of, and what has changed since, in order.

        Raises `UnusableState` where that is not what the bytes are.
        """
        limits = (settings or Settings()).limits
        saved = Saved.of_bytes(snapshot)
        if "registry" not in saved.document:
            raise UnusableState("expected a snapshot, found changes")
        engine = cls(registry_from_documents(saved.document["registry"], limits), settings)
        engine._saves.load(saved)
        for each in changes:
            engine._saves.load(Saved.of_bytes(each))
        return engine

    @property
    def _in_bulk(self) -> BulkHalves:
        if not isinstance(self._halves, BulkHalves):
            raise ValueError("expected an engine in bulk, found a plain one")
        return self._halves

    @property
    def _saves(self) -> Saving:
        if self._saving is None:
            raise ValueError("expected an engine in bulk: a plain one has no snapshots")
        return self._saving

    def _admit(self, publication: Publication, result: Result) -> None:
        """Lets a publication in, to be matched together with its neighbours, or turns it away."""
        if self._duplicates.is_repeated(publication.source, publication.id, publication.time):
            self._reject(publication, "duplicate", result)
            return
        read = self._halves.matching.read(publication)
        if publication.dead_on_arrival:
            self._accept(publication)
            if self._explainer:
                self._explainer.turned_away(publication, "expired on arrival")
            if publication.replaces is not None:
                self._admitted.append(Admitted(publication, read))
            return
        inducement = self._halves.matching.advertisements.induce(publication, read)
        if inducement is None and self._settings.advertised == "required":
            self._reject(publication, "unadvertised", result)
            return
        self._accept(publication)
        self._admitted.append(Admitted(publication, read, inducement))

    def _publish(self, result: Result) -> None:
        """Offers all that was let in to every shortlist that it matches."""
        if self._admitted:
            result.deliveries += self._halves.publish(self._admitted)
            self._admitted = []

    def _accept(self, publication: Publication) -> None:
        self._duplicates.accept(publication.source, publication.id, publication.time)

    def _command(self, command: Command, result: Result) -> None:
        refusal = self._halves.matching.roster.refusal(command)
        if refusal is not None:
            self._reject(command, refusal, result)
            return
        result.deliveries += self._halves.apply(command)
        if self._saving:
            self._saving.carried_out(command)

    def _reject(self, item: Item, reason: str, result: Result) -> None:
        result.rejects.append(Reject(item.position, reason))
        if self._explainer and isinstance(item, Publication):
            self._explainer.turned_away(item, reason)
