"""What a well-formed noun may still get wrong: its expressions, its terms, its preferences."""

from collections.abc import Iterator

from shortlist.fuzzy.sets import Graded, Trapezoid, term_set
from shortlist.language.errors import LanguageError
from shortlist.language.parser import parse_audience_score, parse_where
from shortlist.language.tree import And, Or, Where
from shortlist.model.advertisement import Advertisement
from shortlist.model.problem import Problem
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription, Weights
from shortlist.model.vocabulary import Attribute, Term, Vocabulary
from shortlist.scoring.candidates import score_tree
from shortlist.scoring.expression import plain_number
from shortlist.scoring.levels import preference_cycle

TERM_FORMS = {"number": Trapezoid, "string": Graded}


def check_attribute(attribute: Attribute) -> Iterator[Problem]:
    if attribute.type == "vector" and attribute.many:
        yield Problem(field="many", message="a vector is one value: expected no `many`")
    if attribute.idf and attribute.type not in (None, "string"):
        yield Problem(field="idf", message=f"expected none for the type {attribute.type}")
    for name, term in attribute.terms.items():
        yield from _check_term(f"terms.{name}", term, attribute.type)


def _check_term(field: str, term: Term, attribute_type: str | None) -> Iterator[Problem]:
    try:
        fuzzy_set = term_set(term)
    except ValueError as error:
        yield Problem(field=field, message=str(error))
        return
    if attribute_type is not None and not isinstance(fuzzy_set, TERM_FORMS.get(attribute_type, ())):
        form = {"number": "a trapezoid", "string": "values"}.get(attribute_type, "no term")
        yield Problem(field=field, message=f"expected {form} for the type {attribute_type}")


def check_shortlist(shortlist: Shortlist) -> Iterator[Problem]:
    cycle = preference_cycle(shortlist.prefers)
    if cycle is not None:
        yield Problem(field="prefers", message=f"is a cycle: {' > '.join(cycle)}")


def check_subscription(
    subscription: Subscription, vocabulary: Vocabulary, limits: Limits
) -> Iterator[Problem]:
    yield from _check_own_fields(subscription)
    where = None
    try:
        where = _parsed(subscription.where, vocabulary, limits)
    except LanguageError as error:
        yield Problem(field="where", column=error.column, message=error.message)
    else:
        yield from _check_weights(subscription, where)
    try:
        interest = plain_number(score_tree(subscription, limits))
    except LanguageError as error:
        yield Problem(field="score", column=error.column, message=error.message)
    else:
        if interest is not None and not 0.0 <= interest <= 1.0:
            yield Problem(
                field="score", message=f"a plain number must be from 0 to 1, found {interest:g}"
            )


def check_advertisement(
    advertisement: Advertisement, vocabulary: Vocabulary, limits: Limits
) -> Iterator[Problem]:
    try:
        _parsed(advertisement.where, vocabulary, limits)
    except LanguageError as error:
        yield Problem(field="where", column=error.column, message=error.message)
    if isinstance(advertisement.score, str):
        try:
            parse_audience_score(advertisement.score, limits)
        except LanguageError as error:
            yield Problem(field="score", column=error.column, message=error.message)


def _parsed(where: str | None, vocabulary: Vocabulary, limits: Limits) -> Where | None:
    return None if where is None else parse_where(where, vocabulary, limits)


def _check_own_fields(subscription: Subscription) -> Iterator[Problem]:
    if subscription.shortlist is None:
        return
    for name in ("subscriber", "policy", "combine"):
        if getattr(subscription, name) is not None:
            yield Problem(
                field=name,
                message=f"belongs to the shortlist {subscription.shortlist!r} that this names",
            )


def _check_weights(subscription: Subscription, where: Where | None) -> Iterator[Problem]:
    if not isinstance(subscription.norm, Weights):
        return
    operands = where.operands if isinstance(where, And) else (where,)
    if where is None or any(isinstance(operand, And | Or) for operand in operands):
        yield Problem(
            field="norm", message="weights need a flat conjunction of predicates as `where`"
        )
    elif len(operands) != len(subscription.norm.weights):
        yield Problem(
            field="norm",
            message=f"expected {len(operands)} weights, one per predicate, "
            f"found {len(subscription.norm.weights)}",
        )
