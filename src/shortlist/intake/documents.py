"""Documents (JSON or YAML values) to checked nouns, collecting every problem on the way."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from shortlist.intake.checks import (
    check_advertisement,
    check_attribute,
    check_shortlist,
    check_subscription,
)
from shortlist.model.advertisement import Advertisement
from shortlist.model.paths import Path, parse_path
from shortlist.model.problem import Problem
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Attribute, Vocabulary

Noun = TypeVar("Noun")
Check = Callable[[Any], Iterable[Problem]]

ATTRIBUTE = TypeAdapter(Attribute)
SHORTLIST = TypeAdapter(Shortlist)
SUBSCRIPTION = TypeAdapter(Subscription)
ADVERTISEMENT = TypeAdapter(Advertisement)


class Documents:
    """Reads documents under one vocabulary; what is wrong with them gathers in `problems`.

    >>> documents = Documents()
    >>> documents.subscription({"id": "s1", "where": "rent <"})
    >>> print(*documents.problems)
    subscription 's1': where: column 7: the text ends here; expected a value
    """

    def __init__(self, vocabulary: Vocabulary | None = None, limits: Limits | None = None) -> None:
        self.vocabulary = vocabulary or Vocabulary()
        self.limits = limits or Limits()
        self.problems: list[Problem] = []

    def declare(self, document: object) -> None:
        """Takes a vocabulary; what is wrong in it is left out."""
        if document is None:
            return
        if not isinstance(document, Mapping):
            self.problems.append(
                Problem(
                    field="vocabulary",
                    message="expected a mapping of attribute names to declarations",
                )
            )
            return
        attributes: dict[Path, Attribute] = {}
        for name, declaration in document.items():
            label = f"attribute {name!r}"
            try:
                path = parse_path(name if isinstance(name, str) else repr(name))
            except ValueError as error:
                self.problems.append(Problem(id=label, message=str(error)))
                continue
            attribute = self._read(
                ATTRIBUTE, label, {} if declaration is None else declaration, check_attribute
            )
            if attribute is not None:
                attributes[path] = attribute
        self.vocabulary = Vocabulary(attributes)

    def shortlist(self, document: object) -> Shortlist | None:
        return self._read(SHORTLIST, _label("shortlist", document), document, check_shortlist)

    def subscription(self, document: object) -> Subscription | None:
        def check(subscription: Subscription) -> Iterable[Problem]:
            return check_subscription(subscription, self.vocabulary, self.limits)

        return self._read(SUBSCRIPTION, _label("subscription", document), document, check)

    def advertisement(self, document: object) -> Advertisement | None:
        def check(advertisement: Advertisement) -> Iterable[Problem]:
            return check_advertisement(advertisement, self.vocabulary, self.limits)

        return self._read(ADVERTISEMENT, _label("advertisement", document), document, check)

    def _read(
        self, adapter: TypeAdapter[Noun], label: str, document: object, check: Check
    ) -> Noun | None:
        try:
            noun = adapter.validate_python(document)
        except ValidationError as error:
            self.problems += [problem.within(id=label) for problem in _shape_problems(error)]
            return None
        found = [problem.within(id=label) for problem in check(noun)]
        self.problems += found
        return None if found else noun


def _label(kind: str, document: object) -> str:
    name = document.get("id") if isinstance(document, Mapping) else None
    return kind if name is None else f"{kind} {name!r}"


def _shape_problems(error: ValidationError) -> list[Problem]:
    return [
        Problem(field=_field(detail["loc"]), message=_message(detail))
        for detail in error.errors(include_url=False)
    ]


def _field(location: tuple[int | str, ...]) -> str | None:
    """The path to a field; what only tells the kinds of a union apart is left out."""
    names = [
        str(part)
        for part in location
        if str(part) not in ("everything", "top-k", "window", "novelty")
    ]
    if location and location[-1] == "window":
        names.append("window")
    return ".".join(names) or None


def _message(detail: Mapping[str, Any]) -> str:
    kind, value = detail["type"], detail["input"]
    if kind == "missing":
        return "is missing"
    if kind == "unexpected_keyword_argument":
        return "is not a field that is known here"
    if kind == "dataclass_type":
        return f"expected an object, found {value!r}"
    message = str(detail["msg"]).removeprefix("Value error, ")
    return f"{message[0].lower()}{message[1:]}, found {value!r}"
