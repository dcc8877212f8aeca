"""What the model finds wrong with the shape of a document, in our words."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from pydantic import ValidationError

from shortlist.intake.json_text import NotJson, parse_text
from shortlist.model.policy import POLICIES
from shortlist.model.problem import Problem
from shortlist.model.subscription import AtLeast
from shortlist.model.vocabulary import Term
from shortlist.model.wording import alike, key_text, shown

Location = tuple[int | str, ...]

EXPECTED = {
    "dataclass_type": "an object",
    "mapping_type": "an object",
    "dict_type": "an object",
    "tuple_type": "a list",
    "recursion_loop": "a value that does not hold itself",
    "invalid_key": "a field name",
}
# Problems of a noun that are shown: each asks which field was meant, and a document of some
# kilobytes may have thousands that do not exist.
MOST_SHOWN = 100
KINDS = ", ".join(POLICIES)
HARMLESS = {"id": "?", "subscriber": "?", "source": "?", "k": 0}
"""What may stand for a required field that cannot be read."""


def shape_problems(error: ValidationError, noun: type) -> list[Problem]:
    """One problem for each field of the noun that cannot be read, but for very many of them."""
    details = error.errors(include_url=False)
    problems = [_problem(detail, noun) for detail in details[:MOST_SHOWN]]
    if len(details) > MOST_SHOWN:
        problems.append(Problem(message=f"{len(details) - MOST_SHOWN:,} more problems"))
    return problems


def readable_part(document: object, error: ValidationError, noun: type) -> object:
    """The document with something harmless in place of what cannot be read."""
    if not isinstance(document, Mapping):
        return document
    rest = dict(document)
    for detail in error.errors(include_url=False):
        match detail["loc"]:
            case ("terms", name, *_):
                rest["terms"] = {key: term for key, term in rest["terms"].items() if key != name}
            case (field, *_):
                rest.pop(field, None)
    if "where" in document and "where" not in rest:
        rest.pop("norm", None)  # whose weights can only be judged beside a condition
    return {name: HARMLESS[name] for name in _required(noun)} | rest


def _required(noun: Any) -> list[str]:
    plain = [field for field in fields(noun) if field.default_factory is MISSING]
    return [field.name for field in plain if field.default is MISSING]


def _problem(detail: Mapping[str, Any], noun: type) -> Problem:
    kind, location, value = detail["type"], detail["loc"], detail["input"]
    if location[-1:] == ("[key]",):
        location = (*location[:-2], shown(value))
    field = _field(location)
    match kind:
        case "missing":
            return Problem(field=field, message="is missing")
        case "unexpected_keyword_argument":
            return Problem(field=field, message=_unknown(location, noun))
        case "union_tag_not_found":
            return Problem(field=f"{field}.kind", message=f"is missing; expected one of {KINDS}")
        case "union_tag_invalid":
            message = f"expected one of {KINDS}, found {shown(value['kind'])}"
            return Problem(field=f"{field}.kind", message=message)
        case "model_attributes_type":
            return Problem(field=field, message=_found(_policy_expected(location), value))
        case "literal_error":
            return Problem(field=field, message=_found(detail["ctx"]["expected"], value))
        case "invalid_key":
            return Problem(field=field, message=_found(EXPECTED[kind], location[-1]))
    expected = EXPECTED.get(kind) or str(detail["msg"]).removeprefix("expected ")
    return Problem(field=field, message=_found(expected, value))


def _field(location: Location) -> str | None:
    """The path to a field; what tells policies apart is none.

    >>> _field(("policy", "single", "top-k", "k")), _field(("policy", "chain", 1, "window", "k"))
    ('policy.k', 'policy[1].k')
    """
    match location:
        case ("policy", "single", *rest):
            location = ("policy", *rest[1:])
        case ("policy", "chain", int(number), *rest):
            location = (f"policy[{number}]", *rest[1:])
        case ("policy", "chain"):
            location = ("policy",)
    return ".".join(map(key_text, location)) or None


def _policy_expected(location: Location) -> str:
    one = f"an object with a kind ({KINDS})"
    return f"{one}, or a list of them" if location == ("policy", "single") else one


def _found(expected: str, value: object) -> str:
    message = f"expected {expected}, found {shown(value)}"
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        try:
            parse_text(value)
        except NotJson as error:
            return f"{message}, which is not JSON: {error}"
    return message


def _unknown(location: Location, noun: type) -> str:
    known = [field.name.rstrip("_") for field in fields(_owner(location[:-1], noun))]
    meant = alike(str(location[-1]), known)
    hint = f"did you mean {meant}?" if meant else f"expected only {', '.join(known)}"
    return f"is not a field that is known here; {hint}"


def _owner(location: Location, noun: type) -> Any:
    """The part of a noun that a field at this place belongs to."""
    match location:
        case ("policy", "single", kind) | ("policy", "chain", _, kind):
            return POLICIES[str(kind)]
        case ("at_least",):
            return AtLeast
        case ("terms", _):
            return Term
    return noun
