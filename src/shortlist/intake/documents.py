"""Documents (JSON or YAML values) to checked nouns, collecting every problem on the way."""

import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from functools import lru_cache, partial
from typing import Any, Literal, TypeVar, cast, get_args

from pydantic import TypeAdapter, ValidationError

from shortlist.fuzzy.sets import Graded, Trapezoid, term_set
from shortlist.intake.nested import is_too_deep, without_nulls
from shortlist.intake.shapes import readable_part, shape_problems
from shortlist.intake.sizes import (
    mention_problems,
    most_mentions,
    name_problems,
    policy_problems,
)
from shortlist.language.errors import LanguageError
from shortlist.language.parser import parse_any_score, parse_audience_score
from shortlist.language.permissive import any_attribute, with_any_terms
from shortlist.language.templates import Templates
from shortlist.language.tree import And, Or, Score, Where
from shortlist.model.advertisement import Advertisement
from shortlist.model.paths import CONTEXT, EVENT_TIME, Path, parse_path
from shortlist.model.policy import Policy
from shortlist.model.problem import Problem
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription, Weights
from shortlist.model.vocabulary import Attribute, AttributeType, Term, Vocabulary
from shortlist.model.wording import shown
from shortlist.scoring.expression import plain_number
from shortlist.scoring.levels import preference_cycle

TERM_FORMS = {"number": Trapezoid, "string": Graded}


def check_attribute(path: Path, attribute: Attribute) -> Iterator[Problem]:
    """Does the declaration make sense, for this attribute and in itself?"""
    declared = attribute.type
    fixed = None if path not in CONTEXT else "time" if path == EVENT_TIME else "string"
    if fixed is not None and declared not in (None, fixed):
        yield Problem(field="type", message=f"expected {fixed}, as it always is, found {declared}")
    if attribute.many and (fixed is not None or declared == "vector"):
        yield Problem(field="many", message="expected false for what is one value, found true")
    kind = declared or fixed
    if attribute.idf and kind not in (None, "string"):
        yield Problem(field="idf", message=f"expected none for the type {kind}")
    for name, term in attribute.terms.items():
        yield from _check_term(f"terms.{name}", term, kind)


def _check_term(field: str, term: Term, kind: str | None) -> Iterator[Problem]:
    try:
        fuzzy_set = term_set(term)
    except ValueError as error:
        yield Problem(field=field, message=str(error))
        return
    if kind is not None and not isinstance(fuzzy_set, TERM_FORMS.get(kind, ())):
        form = {"number": "a trapezoid", "string": "values"}.get(kind, "no term")
        yield Problem(field=field, message=f"expected {form} for the type {kind}")


def _check_shortlist(shortlist: Shortlist) -> Iterator[Problem]:
    """Can anything come first?"""
    cycle = preference_cycle(shortlist.prefers)
    if cycle is not None:
        found = " > ".join(map(shown, cycle))
        yield Problem(field="prefers", message=f"expected no cycle, found {found}")


def _check_expressions(
    noun: Subscription | Advertisement, limits: "_AskedLimits", templates: Templates
) -> Iterator[Problem]:
    """Do they parse, and do they go together with other fields?"""
    where: Where | None = None
    score: Score | None = None
    try:
        where = None if noun.where is None else templates.outline(noun.where)
        if isinstance(noun, Subscription):
            yield from _check_weights(noun, where)
    except LanguageError as error:
        yield Problem(field="where", column=error.column, message=error.message)
    try:
        if isinstance(noun, Subscription):
            score = parse_any_score(noun.score, limits.of("score"))
            yield from _check_interest(plain_number(score))
        elif isinstance(noun.score, str):
            score = parse_audience_score(noun.score, limits.of("score"))
    except LanguageError as error:
        yield Problem(field="score", column=error.column, message=error.message)
    policy = noun.policy if isinstance(noun, Subscription) else None
    mentions = limits.of("where", "score", "policy")
    length = sum(len(text) for text in (noun.where, noun.score) if isinstance(text, str))
    if most_mentions(length, policy) > mentions.mentions:
        yield from mention_problems(where, score, policy, mentions)


def _check_interest(interest: float | None) -> Iterator[Problem]:
    if interest is not None and not 0.0 <= interest <= 1.0:
        expected = "expected an expression, or a plain number from 0 to 1"
        yield Problem(field="score", message=f"{expected}, found {interest:g}")


def _check_own_fields(subscription: Subscription) -> Iterator[Problem]:
    for name in ("subscriber", "policy", "combine"):
        if subscription.shortlist is not None and getattr(subscription, name) is not None:
            home = shown(subscription.shortlist)
            message = f"expected none, since the shortlist {home} has its own"
            yield Problem(field=name, message=message)


def _check_weights(subscription: Subscription, where: Where | None) -> Iterator[Problem]:
    if not isinstance(subscription.norm, Weights):
        return
    operands = where.operands if isinstance(where, And) else (where,)
    found = len(subscription.norm.weights)
    if where is None or any(isinstance(operand, And | Or) for operand in operands):
        message = "expected a flat conjunction of predicates as `where`, which weights need"
        yield Problem(field="norm", message=message)
    elif len(operands) != found:
        message = f"expected {len(operands)} weights, one for each predicate, found {found}"
        yield Problem(field="norm", message=message)


class _AskedLimits:
    """Limits for some fields of a noun; the others were accepted before, perhaps under larger ones.

    >>> asked = _AskedLimits(Limits(id_length=5), {"where"})
    >>> asked.of("where").id_length, asked.of("id").id_length == sys.maxsize
    (5, True)
    """

    def __init__(self, limits: Limits, fields: Container[str] | None = None) -> None:
        """Without `fields` all of them are asked about."""
        self._limits = limits
        self._accepted = limits if fields is None else limits.for_what_was_read()
        self._fields: Container[str] = () if fields is None else fields

    def of(self, *fields: str) -> Limits:
        """The limits where one of these fields is asked about."""
        if self._accepted is self._limits or any(each in self._fields for each in fields):
            return self._limits
        return self._accepted


POLICY: TypeAdapter[Policy] = TypeAdapter(Policy)
MOST_POLICIES = 65_536
"""Different ones that are remembered while documents are read."""
TEXTS = ("shortlist", "subscriber", "score", "norm", "combine")
"""Fields that many entries of a registry fill alike."""


Noun = TypeVar("Noun")
LiveNoun = TypeVar("LiveNoun", bound=Subscription | Shortlist)
Check = Callable[[Any], Iterable[Problem]]
Kind = Literal["shortlist", "subscription", "advertisement"]

NOUNS: dict[Kind, type] = {
    "shortlist": Shortlist,
    "subscription": Subscription,
    "advertisement": Advertisement,
}
FIELDS = {noun: [each.name for each in fields(noun)] for noun in NOUNS.values()}
ADAPTERS: dict[type, TypeAdapter[Any]] = {
    noun: TypeAdapter(noun) for noun in (Attribute, Term, *NOUNS.values())
}


def dump(noun: object) -> Any:
    """The document that a noun could have been read from."""
    return ADAPTERS[type(noun)].dump_python(noun, mode="json")


def brief(noun: object) -> Any:
    """The same as somebody would write it: without what is so anyway.

    >>> from shortlist.model.policy import TopK
    >>> print(brief(Subscription(id="s", where="rent < 900", policy=TopK(k=2))))
    {'id': 's', 'where': 'rent < 900', 'policy': {'kind': 'top-k', 'k': 2}}
    """
    document = ADAPTERS[type(noun)].dump_python(noun, mode="json", exclude_defaults=True)
    if "policy" in document:
        whole = dump_policy(cast("Subscription | Shortlist", noun).policy)
        document["policy"] = _with_kinds(document["policy"], whole)
    return document


@lru_cache
def dump_policy(policy: Policy) -> Any:
    """The same of a policy."""
    return POLICY.dump_python(policy, mode="json")


def _with_kinds(policy: Any, whole: Any) -> Any:
    """The kind of a policy is so anyway where its type is known, but nobody else knows that."""
    if isinstance(policy, list):
        return [_with_kinds(one, other) for one, other in zip(policy, whole, strict=True)]
    return {"kind": whole["kind"], **policy}


class Documents:
    """Reads documents under one vocabulary; what is wrong with them gathers in `problems`.

    >>> documents = Documents()
    >>> documents.read("subscription", {"id": "s1", "weight": 0})
    >>> print(*documents.problems)
    subscription 's1': weight: expected a number above 0, found 0
    """

    def __init__(self, vocabulary: Vocabulary | None = None, limits: Limits | None = None) -> None:
        self.vocabulary = vocabulary or Vocabulary()
        """What documents are read under."""
        self._templates: dict[bool, Templates] = {}
        """Templates for conditions that the limits judge, and for those that were judged before."""
        self.limits = limits or Limits()
        self._asked = _AskedLimits(self.limits)
        self.problems: list[Problem] = []
        self._policies: dict[str, Any] = {}
        """Those that were read last, by their text."""

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

    def read_terms(self, name: str, terms: object) -> tuple[Path, Mapping[str, Term]] | None:
        """Terms for an attribute of this name, which stays of its type; None if there is any
        problem with them."""
        label = f"attribute {shown(name)}"
        try:
            path = parse_path(name)
        except ValueError as error:
            self.problems.append(Problem(id=label, message=str(error)))
            return None
        declared = self.vocabulary.of(path)
        document = {"type": declared.type, "many": declared.many, "terms": terms}
        known = len(self.problems)
        read = self._attribute(path, label, document)
        return (path, read.terms) if len(self.problems) == known else None

    def read(self, kind: Kind, document: object, number: int | None = None) -> Any:
        """The noun that a document describes; None if there is any problem with it.

        Problems name it by its number in a list where its id does not.
        """
        label = partial(labelled, kind, document, number)
        return self._read(NOUNS[kind], label, document, self._check)

    def read_again(self, kind: Kind, document: Mapping[str, Any]) -> Any:
        """The noun that was read before from such a document, without a problem."""
        given = dict(document)
        self._share(given)
        return ADAPTERS[NOUNS[kind]].validate_python(given)

    def read_changed(self, noun: LiveNoun, changes: Mapping[str, Any]) -> LiveNoun | None:
        """The noun with some fields as a document has them, null for the default; None if there is
        any problem with what it becomes.

        >>> live = Subscription(id="s", where="rent < 900", weight=2.0)
        >>> made = Documents().read_changed(live, {"where": "rent < 800", "weight": None})
        >>> made.where, made.weight
        ('rent < 800', 1.0)
        """
        asked = _AskedLimits(self.limits, changes)
        if not is_too_deep(changes, self.limits.nesting):
            try:
                made = self.changed(noun, changes)
            except ValidationError:
                made = None
            if made is not None and not any(self._check(made, asked)):
                return made
        # problems are told of the whole, in which one field may contradict another
        kind: Kind = "subscription" if isinstance(noun, Subscription) else "shortlist"
        document = {**dump(noun), **changes}
        label = partial(labelled, kind, document)
        return self._read(type(noun), label, document, partial(self._check, asked=asked))

    def changed(self, noun: LiveNoun, changes: Mapping[str, Any]) -> LiveNoun:
        """The same of changes that there is no problem with: only what changes is read."""
        needed = {"id": noun.id, "subscriber": noun.subscriber}
        given = without_nulls({**needed, **changes})
        self._share(given)
        part = ADAPTERS[type(noun)].validate_python(given)
        names = [name for name in FIELDS[type(noun)] if name in changes]
        return replace(noun, **{name: getattr(part, name) for name in names})

    def _attribute(self, path: Path, label: str, declaration: object) -> Attribute:
        declared = {} if declaration is None else declaration
        check = partial(check_attribute, path)
        attribute = self._read(Attribute, lambda: label, declared, check)
        return _benefit_of_doubt(declared) if attribute is None else attribute

    def _check(
        self, noun: Shortlist | Subscription | Advertisement, asked: _AskedLimits | None = None
    ) -> Iterator[Problem]:
        """Yield what is wrong with a noun beyond its shape, under the limits of `asked` fields."""
        limits = asked or self._asked
        yield from name_problems(noun, limits.of)
        if not isinstance(noun, Advertisement):
            yield from policy_problems(noun.policy, limits.of("policy"))
        if isinstance(noun, Shortlist):
            yield from _check_shortlist(noun)
            return
        if isinstance(noun, Subscription):
            yield from _check_own_fields(noun)
        yield from _check_expressions(noun, limits, self._templates_of(limits.of("where")))

    def _templates_of(self, limits: Limits) -> Templates:
        """Return the reader of conditions under the vocabulary as it is now.

        It remembers conditions that are alike.
        """
        is_judged = limits is self.limits
        known = self._templates.get(is_judged)
        if known is None or known.vocabulary is not self.vocabulary:
            known = self._templates[is_judged] = Templates(self.vocabulary, limits)
        return known

    def _share(self, document: dict[str, Any]) -> None:
        """Equal parts of many documents become one object: less memory, and a policy is read once.

        A policy that cannot be read stays as it is, for its noun's reader to complain about.
        """
        for field in TEXTS:
            if type(document.get(field)) is str:
                document[field] = sys.intern(document[field])
        policy = document.get("policy")
        if type(policy) in (dict, list):
            try:
                text = repr(policy)  # tells 1 from true, which are equal
            except ValueError:  # a whole number of too many digits
                return
            if text not in self._policies:
                if len(self._policies) >= MOST_POLICIES:
                    self._policies.clear()
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
            problems = shape_problems(error, noun)
            with suppress(ValidationError):  # what else is wrong, beside what cannot be read
                rest = ADAPTERS[noun].validate_python(readable_part(given, error, noun))
                problems += check(rest)
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


UNREADABLE = with_any_terms(Vocabulary())
"""Has every term, so that nobody who uses one is blamed for a vocabulary that cannot be read."""


def _benefit_of_doubt(declaration: object) -> Attribute:
    """What stands for a declaration with problems of its own: it may have any term."""
    declared = declaration.get("type") if isinstance(declaration, Mapping) else None
    known = declared if declared in get_args(AttributeType) else None
    return any_attribute(known)
