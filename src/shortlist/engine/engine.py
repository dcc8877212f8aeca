"""The engine: a batch of timeline items in, deliveries and rejects out."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from shortlist.engine.admission import Admission
from shortlist.engine.admitted import Admitted
from shortlist.engine.explanation import Explainer, Question
from shortlist.engine.plain import PlainShard
from shortlist.engine.saved import Saved
from shortlist.engine.saving import Saving
from shortlist.engine.shard import Observer, Shard
from shortlist.intake.files import registry_from_documents
from shortlist.intake.reading import items_of
from shortlist.matching.base import MakeMatcher
from shortlist.matching.index.index import Index
from shortlist.model.command import Command, Item
from shortlist.model.delivery import Delivery
from shortlist.model.items import PUBLICATION, Items, Wanted
from shortlist.model.problem import Reject, WrongArgument
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.model.wording import shown


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
        *,
        waits_for_ties: bool = False,
    ) -> None:
        """One that waits for ties passes on what lies in the past alone, as a deployment does."""
        registry, settings = registry or Registry(), settings or Settings()
        _check_arguments(registry, settings)
        self.admission = Admission(registry, settings, waits_for_ties=waits_for_ties)
        self.observer: Observer | None = None
        self._shard: Shard | PlainShard
        self._explainer: Explainer | None = None
        if question is None and matcher is Index:
            self._shard = Shard(registry, settings.limits)
        else:
            self._shard = PlainShard(registry, settings.limits, matcher, question)
            self._explainer = self._shard.explainer

    def process(self, items: Iterable[Item], last: bool = False) -> Result:
        """Take the next items of the input; after the `last` ones time runs on to its end."""
        every = list(items)
        wrong = next((each for each in every if not isinstance(each, Publication | Command)), None)
        if wrong is not None:
            raise WrongArgument(f"items: expected Publication(...), found {shown(wrong)}")
        commands = [item for item in every if isinstance(item, Command)]
        wanted = self.admission.wanted_with(commands).joined(Wanted(data=True))
        return self.run(*items_of(every, wanted), last=last)

    def run(
        self, items: Items, commands: Mapping[int, Command] | None = None, last: bool = False
    ) -> Result:
        """As `process`, of items as columns, in order of position, that have their data."""
        found = self.admission.admit(items, commands, last)
        result = Result()
        for refusal in found.refusals:
            assert refusal.position is not None
            result.rejects.append(Reject(refusal.position, refusal.reason))
        if self._explainer:
            self._explain_refusals(self._explainer, items, found)
        result.deliveries = sorted(self._deliveries(found), key=lambda delivery: delivery.order)
        if self._explainer:
            result.explanations += self._explainer.taken(result.deliveries)
        return result

    def _deliveries(self, found: Admitted) -> Iterator[Delivery]:
        if isinstance(self._shard, PlainShard):
            yield from self._shard.run(found.items, found.commands, until=found.until)
            return
        for placed in self._shard.run(
            found.items, found.commands, until=found.until, observer=self.observer
        ):
            yield from self._shard.objects(placed)

    @property
    def counts(self) -> dict[str, Any]:
        """Work done so far: matches, deliveries by cause, values of another type by attribute."""
        return self._shard.work

    def status(self) -> dict[str, Any]:
        """What is held, by kind of policy, and warnings for whoever runs it."""
        return status(self.shard)

    def snapshot(self) -> bytes:
        """Everything that `restore` needs to go on as if nothing had happened."""
        return self._saves.saved().to_bytes()

    @classmethod
    def restore(cls, snapshot: bytes, settings: Settings | None = None) -> "Engine":
        """The engine that a snapshot was taken of.

        Raises `UnusableState` where that is not what the bytes are.

        >>> from shortlist.model.publication import Publication
        >>> prompt = Settings(lateness=0)
        >>> engine = Engine(settings=prompt)
        >>> some = [Publication(id="n1", source="cinema", time=0, position=1)]
        >>> _ = engine.process(some)
        >>> Engine.restore(engine.snapshot(), prompt).process(some).rejects
        [Reject(position=1, reason='duplicate')]
        """
        limits = (settings or Settings()).limits.for_what_was_read()
        saved = Saved.of_bytes(snapshot)
        engine = cls(registry_from_documents(saved.registry, limits), settings)
        engine._saves.load(saved)
        return engine

    @property
    def shard(self) -> Shard:
        """What decides behind the admission."""
        if not isinstance(self._shard, Shard):
            raise ValueError("expected an engine in bulk, found a plain one")
        return self._shard

    @cached_property
    def _saves(self) -> Saving:
        if not isinstance(self._shard, Shard):
            raise ValueError("expected an engine in bulk: a plain one has no snapshots")
        return Saving(self._shard, self.admission)

    def _explain_refusals(self, explainer: Explainer, items: Items, found: Admitted) -> None:
        """Publications that nobody was asked about, because they were refused or dead."""
        reasons = {each.position: each.reason for each in found.refusals}
        for at in np.flatnonzero(items.kinds == PUBLICATION).tolist():
            publication = items.publication(at)
            reason = reasons.get(publication.position)
            if reason is None and publication.dead_on_arrival:
                reason = "expired on arrival"
            if reason is not None:
                explainer.turned_away(publication, reason)


def _check_arguments(registry: object, settings: object) -> None:
    if not isinstance(registry, Registry):
        raise WrongArgument(
            "registry: expected a Registry, as read_registry and registry_from_documents return"
            f" it, found {shown(registry)}"
        )
    if not isinstance(settings, Settings):
        raise WrongArgument(f"settings: expected Settings(...), found {shown(settings)}")


def status(shard: Shard) -> dict[str, Any]:
    """Counts, and for each kind of policy how many shortlists there are and what they take."""
    kinds: dict[str, dict[str, int]] = {}
    for level in shard.selecting.levels:
        for kind, bank in level.banks.items():
            held = kinds.setdefault(kind, {"policies": 0, "rows": 0, "bytes": 0})
            held["policies"] += int(bank.arenas[0].heads["is_open"].sum())
            held["rows"] += sum(int(arena.heads["length"].sum()) for arena in bank.arenas)
            held["bytes"] += sum(arena.nbytes for arena in bank.arenas)
    return {
        "shortlists": len(shard.matching.roster.shortlists),
        "subscriptions": len(shard.matching.roster.subscriptions),
        "publications held": len(shard.selecting.publications),
        "state": {kind: held for kind, held in kinds.items() if held["policies"]},
        "warnings": [*warnings(shard)],
    }


def warnings(shard: Shard) -> Iterator[str]:
    """What the policies of shortlists have to say about their settings."""
    matching, selecting = shard.matching, shard.selecting
    for name in matching.roster.shortlists:
        stages = selecting.stages(matching.shortlists.number(name))
        members = {each: matching.number(each) for each in matching.roster.members(name)}
        for level, (kind, place) in zip(selecting.levels, stages, strict=False):
            for warning in level.banks[kind].warnings(place, members):
                yield f"shortlist {name!r}: {warning}"
