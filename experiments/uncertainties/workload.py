"""The workload of the paper's section 5.1.

There are 42 attributes over one domain. Each has two to five concepts; a concept is a trapezoid, of
which all four corners are drawn from the domain. A subscription asks for a concept of each of two
attributes, and a publication has four attributes, whose values are trapezoids, too.

The paper does not say whether subscriptions share concepts or have functions of their own. They
share them here: with own functions its association matrix would not fit into its machine's memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from shortlist.intake.files import registry_from_documents
from shortlist.matching.blocks import Block
from shortlist.matching.values import Reader, Values
from shortlist.model.publication import Publication
from shortlist.model.subscription import NO_THRESHOLD, AtLeast, Subscription
from shortlist.model.vocabulary import Vocabulary

ATTRIBUTES = 42
CONCEPTS = (2, 5)
PER_SUBSCRIPTION = 2
PER_PUBLICATION = 4

Corners = Sequence[float]
Draw = Callable[[np.random.Generator], Corners]


def real(draws: np.random.Generator) -> Corners:
    """Four points of a domain of real numbers."""
    corners: list[float] = np.sort(draws.uniform(0, 1000, 4)).round(6).tolist()
    return corners


def whole(draws: np.random.Generator) -> Corners:
    """Four points of a domain of few whole numbers: corners are often equal."""
    corners: list[float] = np.sort(draws.integers(0, 20, 4, endpoint=True)).astype(float).tolist()
    return corners


Wording = Callable[[str, str, Corners], str]
"""A predicate, of the names of an attribute and of a concept, and the corners of that."""

SUBSCRIPTION_TYPES: dict[str, Wording] = {
    "appro": lambda attribute, concept, corners: f"{attribute} is {concept}",
    "pessi": lambda attribute, concept, m: f"{attribute} between {m[0]!r} and {m[3]!r}",
    "middle": lambda attribute, concept, m: (
        f"{attribute} between {(m[0] + m[1]) / 2!r} and {(m[2] + m[3]) / 2!r}"
    ),
    "optim": lambda attribute, concept, m: f"{attribute} between {m[1]!r} and {m[2]!r}",
}
"""The paper's Table 1, as conditions."""
PUBLICATION_TYPES: dict[str, Callable[[Corners], object]] = {
    "appro": lambda corners: {"trapezoid": [*corners]},
    "interval": lambda n: {"between": [n[1], n[2]]},
    "point": lambda n: (n[1] + n[2]) / 2,
}


@dataclass(frozen=True)
class Workload:
    """Concepts, what subscriptions ask for, and what is published, all drawn."""

    draws: np.random.Generator
    subscriptions: int
    publications: int
    corners: Draw = real
    concepts: dict[str, dict[str, Corners]] = field(init=False)
    asked: list[list[tuple[str, str]]] = field(init=False)
    """By subscription, attributes and concepts."""
    published: list[dict[str, Corners]] = field(init=False)

    def __post_init__(self) -> None:
        names = [f"a{number}" for number in range(ATTRIBUTES)]
        low, high = CONCEPTS
        concepts = {
            name: {
                f"c{number}": self.corners(self.draws)
                for number in range(int(self.draws.integers(low, high + 1)))
            }
            for name in names
        }
        asked = [
            [
                (names[at], f"c{self.draws.integers(len(concepts[names[at]]))}")
                for at in _some(self.draws, PER_SUBSCRIPTION)
            ]
            for _ in range(self.subscriptions)
        ]
        published = [
            {names[at]: self.corners(self.draws) for at in _some(self.draws, PER_PUBLICATION)}
            for _ in range(self.publications)
        ]
        for name, value in (("concepts", concepts), ("asked", asked), ("published", published)):
            object.__setattr__(self, name, value)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        documents = {
            name: {
                "type": "number",
                "terms": {term: {"trapezoid": corners} for term, corners in terms.items()},
            }
            for name, terms in self.concepts.items()
        }
        return registry_from_documents({"vocabulary": documents}).vocabulary

    def subscriptions_as(
        self, kind: str = "appro", least: AtLeast = NO_THRESHOLD
    ) -> Iterator[Subscription]:
        """All subscriptions, of one type."""
        word = SUBSCRIPTION_TYPES[kind]
        for number, asked in enumerate(self.asked):
            where = " and ".join(
                word(attribute, concept, self.concepts[attribute][concept])
                for attribute, concept in asked
            )
            yield Subscription(id=f"s{number}", where=where, at_least=least)

    def publications_as(self, kind: str = "appro") -> list[Publication]:
        """All publications, of one type."""
        value = PUBLICATION_TYPES[kind]
        return [
            Publication(
                id=f"p{number}",
                source="workload",
                time=number,
                position=number,
                data={name: value(corners) for name, corners in published.items()},
            )
            for number, published in enumerate(self.published)
        ]

    def readers_as(self, kind: str = "appro") -> list[Reader]:
        values = Values(self.vocabulary)
        return [values.of(publication) for publication in self.publications_as(kind)]

    def block_as(self, kind: str = "appro") -> Block:
        return Block.of_readers(self.readers_as(kind))


def _some(draws: np.random.Generator, count: int) -> list[int]:
    """Attributes, in order and all different."""
    chosen: list[int] = np.sort(draws.choice(ATTRIBUTES, count, replace=False)).tolist()
    return chosen
