"""What a deployment declares about attributes: types, fuzzy terms, text settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from shortlist.model.fields import Flag, Id, Noun, Number, Share, Text, expecting
from shortlist.model.paths import EVENT_TIME, Path

AttributeType = Literal["number", "string", "boolean", "time", "vector"]
Shape = Literal["linear", "smooth", "gauss"]
Corners = Annotated[
    tuple[Number | None, Number | None, Number | None, Number | None],
    expecting("a list of four corners, each a number or null"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Term(Noun):
    """A fuzzy set as a file writes it: corners on numbers, or graded values on strings."""

    trapezoid: Corners | None = None
    values: Mapping[Text, Share] | None = None
    shape: Shape | None = None
    left: Shape | None = None
    right: Shape | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute(Noun):
    """One attribute's declaration."""

    type: AttributeType | None = None
    many: Flag = False
    terms: Mapping[Id, Term] = field(default_factory=dict)
    idf: Mapping[Text, Number] = field(default_factory=dict)


UNDECLARED = Attribute()


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """All declarations of a deployment.

    >>> Vocabulary({("rent",): Attribute(type="number")}).of(("rent",)).type
    'number'
    >>> Vocabulary().of(("anything",)) == UNDECLARED
    True
    """

    attributes: Mapping[Path, Attribute] = field(default_factory=dict)

    @property
    def version(self) -> int:
        """As long as it stays the same, terms mean the same."""
        return 0

    def of(self, path: Path) -> Attribute:
        return self.attributes.get(path, UNDECLARED)

    def is_time(self, path: Path) -> bool:
        return path == EVENT_TIME or self.of(path).type == "time"


@dataclass(frozen=True, slots=True)
class LiveVocabulary(Vocabulary):
    """One whose terms change while others look at it: whoever changes it has a copy of its own.

    >>> rent = ("rent",)
    >>> live = LiveVocabulary.copied(Vocabulary({rent: Attribute(type="number")}))
    >>> before = live.now()
    >>> live.declare(rent, Attribute(type="number", terms={"cheap": Term()}))
    >>> [*live.of(rent).terms], [*before.of(rent).terms], live.version
    (['cheap'], [], 1)
    """

    attributes: dict[Path, Attribute]
    _changed: list[Path] = field(default_factory=list, compare=False, repr=False)
    """What was declared anew, in order."""

    @classmethod
    def copied(cls, vocabulary: Vocabulary) -> "LiveVocabulary":
        return cls(dict(vocabulary.attributes))

    @property
    def version(self) -> int:
        return len(self._changed)

    def now(self) -> Vocabulary:
        """As it is, whatever becomes of it."""
        return Vocabulary(dict(self.attributes))

    def declare(self, path: Path, attribute: Attribute) -> None:
        """From now on an attribute is declared so; not at all where that says nothing."""
        if attribute == UNDECLARED:
            self.attributes.pop(path, None)
        else:
            self.attributes[path] = attribute
        self._changed.append(path)
