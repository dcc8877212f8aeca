"""What subscriptions ask of a matcher, and what it is read under."""

import json
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

from pydantic import TypeAdapter

from shortlist.fuzzy.degrees import Degrees
from shortlist.language.parser import parse_any_where
from shortlist.language.tree import Where
from shortlist.matching.conditions import Meets, condition
from shortlist.matching.index.coarse import Bits, lowered, with_lowered
from shortlist.matching.index.conditions import Condition, compiled_condition
from shortlist.matching.index.texts import stable_hash
from shortlist.model.paths import format_path, parse_path
from shortlist.model.settings import Limits
from shortlist.model.subscription import AtLeast, Norm, Subscription, Weights
from shortlist.model.vocabulary import Attribute, Vocabulary

_ATTRIBUTE = TypeAdapter(Attribute)


class Request(NamedTuple):
    """The part of a subscription that decides what matches it, and how far.

    >>> text = Request("rent < 900", "min", 0.5, 0.0).text
    >>> text, Request.of_text(text).where
    ('["rent < 900", "min", 0.5, 0.0]', 'rent < 900')
    """

    where: str | None
    norm: Norm
    possibility: float
    necessity: float

    @classmethod
    def of_text(cls, text: str) -> "Request":
        where, norm, possibility, necessity = json.loads(text)
        given = Weights(tuple(norm)) if isinstance(norm, list) else norm
        return cls(where, given, possibility, necessity)

    @property
    def text(self) -> str:
        norm = self.norm.weights if isinstance(self.norm, Weights) else self.norm
        return json.dumps([self.where, norm, self.possibility, self.necessity])

    @property
    def hash(self) -> int:
        """The same for equal requests, in every process."""
        return stable_hash(f"{self.possibility} {self.necessity} {self.norm} {self.where}")

    @property
    def at_least(self) -> AtLeast:
        return AtLeast(possibility=self.possibility, necessity=self.necessity)


@dataclass(frozen=True, slots=True)
class Terms:
    """A vocabulary, limits, and the bits of a degree if it has only a few.

    >>> terms = Terms(Vocabulary(), Limits())
    >>> terms.request(Subscription(id="s1", where="rent < 900"))
    Request(where='rent < 900', norm='min', possibility=0.0, necessity=0.0)
    """

    vocabulary: Vocabulary
    limits: Limits
    bits: Bits | None = None

    def __post_init__(self) -> None:
        if self.bits is not None and self.bits not in get_args(Bits):
            raise ValueError(f"a degree has 8, 4, 3 or 2 bits, or is a double: not {self.bits!r}")

    def request(self, subscription: Subscription) -> Request:
        at_least = subscription.at_least
        least = at_least.possibility, at_least.necessity
        if self.bits is not None:
            least = lowered(least[0], self.bits), lowered(least[1], self.bits)
        return Request(subscription.where, subscription.norm, *least)

    def condition(self, request: Request) -> Condition | None:
        """What is compiled, if there is any condition."""
        tree = self._tree(request.where)
        if tree is None:
            return None
        least = Degrees(request.possibility, request.necessity)
        return compiled_condition(tree, self.vocabulary, request.norm, least)

    def meets(self, where: str | None, norm: Norm) -> Meets:
        """What judges one publication."""
        return condition(self._tree(where), self.vocabulary, norm)

    def _tree(self, where: str | None) -> Where | None:
        tree = parse_any_where(where, self.vocabulary, self.limits)
        return with_lowered(tree, self.bits) if tree is not None and self.bits else tree


def document_of(vocabulary: Vocabulary) -> dict[str, Any]:
    """What a file could say about the vocabulary.

    >>> document_of(Vocabulary({("rent",): Attribute(type="number")}))
    {'rent': {'type': 'number'}}
    """
    return {
        format_path(path): _ATTRIBUTE.dump_python(attribute, mode="json", exclude_defaults=True)
        for path, attribute in vocabulary.attributes.items()
    }


def vocabulary_of(document: dict[str, Any]) -> Vocabulary:
    """The vocabulary that a document was made of.

    >>> vocabulary_of({"rent": {"type": "number"}})
    Vocabulary(attributes={('rent',): Attribute(type='number', many=False, terms={}, idf={})})
    """
    return Vocabulary(
        {
            parse_path(name): _ATTRIBUTE.validate_python(attribute)
            for name, attribute in document.items()
        }
    )
