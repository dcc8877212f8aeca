"""What a well-formed noun may still get wrong: its expressions, its terms, its preferences."""

from collections.abc import Iterator

from shortlist.fuzzy.sets import Graded, Trapezoid, term_set
from shortlist.language.errors import LanguageError
from shortlist.language.parser import parse_any_score, parse_any_where, parse_audience_score
from shortlist.language.tree import And, Or, Where
from shortlist.model.advertisement import Advertisement
from shortlist.model.paths import CONTEXT, EVENT_TIME, Path
from shortlist.model.problem import Problem
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription, Weights
from shortlist.model.vocabulary import Attribute, Term, Vocabulary
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


def check_noun(noun: object, vocabulary: Vocabulary, limits: Limits) -> Iterator[Problem]:
    """What is wrong with a noun beyond its shape."""
    match noun:
        case Shortlist():
            return _check_shortlist(noun)
        case Subscription():
            return _check_subscription(noun, vocabulary, limits)
        case Advertisement():
            return _check_advertisement(noun, vocabulary, limits)
    raise TypeError(f"expected a noun of a registry, found {shown(noun)}")


def _check_shortlist(shortlist: Shortlist) -> Iterator[Problem]:
    """Can anything come first?"""
    cycle = preference_cycle(shortlist.prefers)
    if cycle is not None:
        found = " > ".join(map(shown, cycle))
        yield Problem(field="prefers", message=f"expected no cycle, found {found}")


def _check_subscription(
    subscription: Subscription, vocabulary: Vocabulary, limits: Limits
) -> Iterator[Problem]:
    """Do its expressions parse, and do its fields go together?"""
    yield from _check_own_fields(subscription)
    try:
        where = parse_any_where(subscription.where, vocabulary, limits)
    except LanguageError as error:
        yield _pointed("where", error)
    else:
        yield from _check_weights(subscription, where)
    try:
        interest = plain_number(parse_any_score(subscription.score, limits))
    except LanguageError as error:
        yield _pointed("score", error)
    else:
        if interest is not None and not 0.0 <= interest <= 1.0:
            message = f"expected an expression, or a plain number from 0 to 1, found {interest:g}"
            yield Problem(field="score", message=message)


def _check_advertisement(
    advertisement: Advertisement, vocabulary: Vocabulary, limits: Limits
) -> Iterator[Problem]:
    """Do its expressions parse?"""
    try:
        parse_any_where(advertisement.where, vocabulary, limits)
    except LanguageError as error:
        yield _pointed("where", error)
    if isinstance(advertisement.score, str):
        try:
            parse_audience_score(advertisement.score, limits)
        except LanguageError as error:
            yield _pointed("score", error)


def _pointed(field: str, error: LanguageError) -> Problem:
    return Problem(field=field, column=error.column, message=error.message)


def _check_own_fields(subscription: Subscription) -> Iterator[Problem]:
    if subscription.shortlist is None:
        return
    for name in ("subscriber", "policy", "combine"):
        if getattr(subscription, name) is not None:
            message = (
                f"expected none, since the shortlist {shown(subscription.shortlist)} has its own"
            )
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
