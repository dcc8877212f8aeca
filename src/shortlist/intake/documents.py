"""Documents (JSON or YAML values) to checked nouns, collecting every problem on the way."""

import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any, Literal, TypeVar, get_args

from pydantic import TypeAdapter, ValidationError

from shortlist.intake.checks import check_attribute, check_noun
from shortlist.intake.shapes import readable_part, shape_problems
from shortlist.language.permissive import any_attribute, any_vocabulary
from shortlist.model.advertisement import Advertisement
from shortlist.model.paths import Path, parse_path
from shortlist.model.policy import Policy
from shortlist.model.problem import Problem
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Attribute, AttributeType, Vocabulary
from shortlist.model.wording import shown

POLICY: TypeAdapter[Policy] = TypeAdapter(Policy)
TEXTS = ("shortlist", "subscriber", "score", "norm", "combine")
"""Fields that many entries of a registry fill alike."""


Noun = TypeVar("Noun")
Check = Callable[[Any], Iterable[Problem]]
Kind = Literal["shortlist", "subscription", "advertisement"]

PLAIN = frozenset((str, int, float, bool, type(None)))
"""What holds nothing else; most values are of these types."""

NOUNS: dict[Kind, type] = {
    "shortlist": Shortlist,
    "subscription": Subscription,
    "advertisement": Advertisement,
}
ADAPTERS: dict[type, TypeAdapter[Any]] = {
    noun: TypeAdapter(noun) for noun in (Attribute, *NOUNS.values())
}


def dump(noun: object) -> Any:
    """The document that a noun could have been read from."""
    return ADAPTERS[type(noun)].dump_python(noun, mode="json")


class Documents:
    """Reads documents under one vocabulary; what is wrong with them gathers in `problems`.

    >>> documents = Documents()
    >>> documents.read("subscription", {"id": "s1", "weight": 0})
    >>> print(*documents.problems)
    subscription 's1': weight: expected a number above 0, found 0
    """

    def __init__(self, vocabulary: Vocabulary | None = None, limits: Limits | None = None) -> None:
        self.vocabulary = vocabulary or Vocabulary()
        self.limits = limits or Limits()
        self.problems: list[Problem] = []
        self._policies: dict[str, Any] = {}
        """Those that were read, by their text."""

    def declare(self, document: object) -> None:
        """Takes a vocabulary."""
        if document is None:
            return
        if not isinstance(document, Mapping):
            expected = "expected a mapping of attribute names to declarations"
            found = f"{expected}, found {shown(document)}"
            self.problems.append(Problem(field="vocabulary", message=found))
            self.vocabulary = UNREADABLE
            return
        attributes: dict[Path, Attribute] = {}
        for name, declaration in document.items():
            label = f"attribute {shown(name)}"
            try:
                path = _path(name)
            except ValueError as error:
                self.problems.append(Problem(id=label, message=str(error)))
                continue
            if path in attributes:
                message = "expected one declaration of an attribute, found a second one"
                self.problems.append(Problem(id=label, message=message))
            attributes[path] = self._attribute(path, label, declaration)
        self.vocabulary = Vocabulary(attributes)

    def read(self, kind: Kind, document: object, number: int | None = None) -> Any:
        """The noun that a document describes; None if there is any problem with it.

        Problems name it by its number in a list where its id does not.
        """
        label = partial(labelled, kind, document, number)
        return self._read(NOUNS[kind], label, document, self._check)

    def _attribute(self, path: Path, label: str, declaration: object) -> Attribute:
        def check(attribute: Attribute) -> Iterable[Problem]:
            return check_attribute(path, attribute)

        declared = {} if declaration is None else declaration
        attribute = self._read(Attribute, lambda: label, declared, check)
        return _benefit_of_doubt(declared) if attribute is None else attribute

    def _check(self, noun: object) -> Iterable[Problem]:
        return check_noun(noun, self.vocabulary, self.limits)

    def _share(self, document: dict[str, Any]) -> None:
        """Equal parts of many documents become one object: less memory, and a policy is read once.

        A policy that cannot be read stays as it is, for its noun's reader to complain about.
        """
        for field in TEXTS:
            if type(document.get(field)) is str:
                document[field] = sys.intern(document[field])
        policy = document.get("policy")
        if type(policy) in (dict, list):
            text = repr(policy)  # tells 1 from true, which are equal
            if text not in self._policies:
                try:
                    self._policies[text] = POLICY.validate_python(policy)
                except ValidationError:
                    return
            document["policy"] = self._policies[text]

    def _read(
        self, noun: type[Noun], label: Callable[[], str], document: object, check: Check
    ) -> Noun | None:
        if is_too_deep(document, self.limits.nesting):
            message = f"expected at most {self.limits.nesting} levels of nesting, found more"
            self.problems.append(Problem(id=label(), message=message))
            return None
        given = without_nulls(document)
        if isinstance(given, dict):
            self._share(given)
        try:
            made: Noun = ADAPTERS[noun].validate_python(given)
        except ValidationError as error:
            rest = readable_part(given, error, noun)
            problems = [*shape_problems(error, noun), *_further(noun, rest, check)]
        else:
            problems = list(check(made))
            if not problems:
                return made
        self.problems += [problem.within(id=label()) for problem in problems]
        return None


def labelled(kind: Kind, document: object, number: int | None = None) -> str:
    """How messages name an entry: by its id, else by its number in the list.

    >>> labelled("shortlist", {"id": "anna"}), labelled("shortlist", {}, number=3)
    ("shortlist 'anna'", 'shortlist #3')
    """
    name = document.get("id") if isinstance(document, Mapping) else None
    if name is not None and not isinstance(name, Mapping | list):
        return f"{kind} {shown(name)}"
    return kind if number is None else f"{kind} #{number}"


def _path(name: object) -> Path:
    if not isinstance(name, str):
        raise ValueError("expected a name, in quotes where it looks like something else")
    return parse_path(name)


def _further(noun: type, rest: object, check: Check) -> list[Problem]:
    """What else is wrong, beside the fields that cannot be read."""
    try:
        made = ADAPTERS[noun].validate_python(rest)
    except ValidationError:
        return []
    return list(check(made))


def is_too_deep(document: object, most: int) -> bool:
    """Whether objects and lists nest deeper than allowed; found without nesting calls.

    >>> is_too_deep({"a": [{"b": 1}]}, 3), is_too_deep({"a": [{"b": 1}]}, 2)
    (False, True)
    """
    level = _holders([document])
    for _ in range(most):
        if not level:
            return False
        level = _holders([child for value in level for child in _children(value)])
    return bool(level)


def _holders(values: Iterable[object]) -> list[object]:
    """Those that hold something, each once, since YAML may name one object in many places."""
    found = {id(value): value for value in values if type(value) not in PLAIN}
    return [value for value in found.values() if _children(value)]


def _children(value: object) -> Collection[object]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def without_nulls(document: object) -> object:
    """Null is absent, in every object; only a window and a policy's scales may be null."""
    if isinstance(document, list):
        return [part if type(part) in PLAIN else without_nulls(part) for part in document]
    if not isinstance(document, Mapping):
        return document
    is_policy = "kind" in document
    return {
        name: value
        if type(value) in PLAIN or (is_policy and name == "over")
        else without_nulls(value)
        for name, value in document.items()
        if value is not None or name == "window"
    }


UNREADABLE = any_vocabulary()
"""Has every term, so that nobody who uses one is blamed for a vocabulary that cannot be read."""


def _benefit_of_doubt(declaration: object) -> Attribute:
    """What stands for a declaration with problems of its own: it may have any term."""
    declared = declaration.get("type") if isinstance(declaration, Mapping) else None
    known = declared if declared in get_args(AttributeType) else None
    return any_attribute(known)
