"""The whole engine with all policies, beside the plain one; what it saves."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from shortlist.engine.engine import Engine
from shortlist.intake.files import registry_from_documents
from shortlist.intake.lines import ItemReader
from shortlist.matching.scan import Scan
from shortlist.model.command import Item
from shortlist.model.delivery import Delivery
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.progress import Steps

from .report import Report
from .timing import core_timed
from .workloads import MORE_POLICIES, film, film_registry

IN_ORDER = Settings(lateness=0)
BATCH = 2_000
WARM_UP = 600
"""Publications after which everything is compiled."""


@dataclass(frozen=True, slots=True)
class EngineFigures:
    """Adds figures to a report; the plain engine sees a part of the publications."""

    report: Report
    steps: Steps
    shortlists: int
    publications: int
    plain_publications: int

    def beside_plain(self) -> None:
        registry = registry_from_documents(film_registry(self.shortlists, policies=MORE_POLICIES))
        films = _films(self.publications, registry)
        part = films[: self.plain_publications]
        with self.steps.step("engines: the plain one"):
            plain = Engine(registry, IN_ORDER, matcher=Scan)
            expected, plain_seconds = core_timed(partial(_delivered, plain, part))
        _delivered(Engine(registry, IN_ORDER), films[:WARM_UP])
        delivered = _delivered(Engine(registry, IN_ORDER), part)
        facts = {"shortlists": self.shortlists, "publications": len(part)}
        self.report.compared(delivered == expected, "engines", to="plain", **facts)
        plain_speed = self._added("plain", facts, len(expected), plain_seconds)
        engine = Engine(registry, IN_ORDER)
        with self.steps.step("engines: in bulk"):
            delivered, seconds = core_timed(partial(_delivered, engine, films))
        facts = {"shortlists": self.shortlists, "publications": len(films)}
        self._added("bulk", facts, len(delivered), seconds, plain_speed)
        with self.steps.step("engines: saving"):
            self._saves(engine)

    def _added(
        self,
        engine: str,
        facts: dict[str, Any],
        deliveries: int,
        seconds: float,
        plain_speed: float | None = None,
    ) -> float:
        speed = facts["publications"] / seconds
        ratio = {} if plain_speed is None else {"ratio_to_plain": speed / plain_speed}
        self.report.add(
            "engines",
            engine=engine,
            **facts,
            deliveries=deliveries,
            core_seconds=seconds,
            publications_per_second=speed,
            **ratio,
        )
        return float(speed)

    def _saves(self, engine: Engine) -> None:
        """A snapshot; the next one, whose registry is packed already."""
        for what in ("snapshot", "the next one"):
            self._saved(what, *core_timed(engine.snapshot))

    def _saved(self, what: str, saved: bytes, seconds: float) -> None:
        self.report.add(
            "saving",
            saved=what,
            shortlists=self.shortlists,
            bytes=len(saved),
            bytes_per_shortlist=len(saved) / self.shortlists,
            core_seconds=seconds,
        )


def _films(count: int, registry: Registry) -> list[Item]:
    draw, read = random.Random(0), ItemReader(registry.vocabulary)
    return [read.document(film(draw, number), number) for number in range(count)]


def _delivered(engine: Engine, publications: Sequence[Item]) -> list[Delivery]:
    return [
        delivery
        for first in range(0, len(publications), BATCH)
        for delivery in engine.process(publications[first : first + BATCH]).deliveries
    ]
