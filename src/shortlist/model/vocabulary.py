"""What a deployment declares about attributes: types, fuzzy terms, text settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict

from shortlist.model.fields import DOCUMENT, Flag, Id, Number, Share, Text, expecting
from shortlist.model.paths import EVENT_TIME, Path

AttributeType = Literal["number", "string", "boolean", "time", "vector"]
Shape = Literal["linear", "smooth", "gauss"]
Corners = Annotated[
    tuple[Number | None, Number | None, Number | None, Number | None],
    expecting("a list of four corners, each a number or null"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A fuzzy set as a file writes it: corners on numbers, or graded values on strings."""

    __pydantic_config__: ClassVar[ConfigDict] = DOCUMENT

    trapezoid: Corners | None = None
    values: Mapping[Text, Share] | None = None
    shape: Shape | None = None
    left: Shape | None = None
    right: Shape | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """One attribute's declaration."""

    __pydantic_config__: ClassVar[ConfigDict] = DOCUMENT

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

    def of(self, path: Path) -> Attribute:
        return self.attributes.get(path, UNDECLARED)

    def is_time(self, path: Path) -> bool:
        return path == EVENT_TIME or self.of(path).type == "time"
