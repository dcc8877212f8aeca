"""Is there a value that satisfies some predicates and fails another, all of one attribute and type?

A crisp value has to lie in every predicate's set. A fuzzy one satisfies a predicate if its support
meets the set. The support of a fuzzy number may be any interval, that of a fuzzy string any finite
set.
"""

from collections.abc import Sequence

from shortlist.covering.text_sets import may_share_a_string, outside, text_set
from shortlist.fuzzy.intervals import REALS, complement
from shortlist.language.tree import Between, Comparison, In, TextMatch
from shortlist.matching.number_sets import holds_a_whole_number, holds_on, in_common
from shortlist.matching.predicates import holding, literal
from shortlist.model.times import Instant

TypedPredicate = Comparison | In | Between | TextMatch


def predicate_type(predicate: TypedPredicate) -> type:
    """The Python type of the values that a predicate can hold on."""
    return type(literal(predicate))


def may_exist(
    satisfied: Sequence[TypedPredicate], failed: TypedPredicate | None, fuzzy: bool
) -> bool:
    """Whether a value of their type satisfies the first predicates and fails the other, if any.

    `fuzzy` lets in fuzzy values, and then there must be a predicate to satisfy. True also where the
    search on strings was given up.

    >>> def x(operator, value):
    ...     return Comparison(("x",), operator, value)
    >>> may_exist([x("!=", 3.0), x(">=", 3.0)], failed=x(">", 3.0), fuzzy=False)
    False
    >>> may_exist([x("!=", 3.0), x(">=", 3.0)], failed=x(">", 3.0), fuzzy=True)  # between 2 and 3
    True
    """
    if failed in satisfied:
        return False
    kind = predicate_type(failed or satisfied[0])
    if kind is float:
        return _number_may_exist(satisfied, failed, fuzzy)
    if kind is str:
        return _text_may_exist(satisfied, failed, fuzzy)
    if kind is Instant:
        return _time_exists(satisfied, failed)
    return any(
        all(_holds(predicate, value) for predicate in satisfied)
        and (failed is None or not _holds(failed, value))
        for value in (False, True)
    )


def _number_may_exist(
    satisfied: Sequence[TypedPredicate], failed: TypedPredicate | None, fuzzy: bool
) -> bool:
    free = (REALS,) if failed is None else complement(holds_on(failed))
    sets = [holds_on(predicate) for predicate in satisfied]
    if not fuzzy:
        return bool(in_common([free, *sets]))
    # A support lies within one component; the hull of a point of each set is such a support.
    return any(all(any(map(component.meets, one)) for one in sets) for component in free)


def _text_may_exist(
    satisfied: Sequence[TypedPredicate], failed: TypedPredicate | None, fuzzy: bool
) -> bool:
    free = [] if failed is None else [outside(text_set(failed))]
    sets = [text_set(predicate) for predicate in satisfied]
    if not fuzzy:
        return may_share_a_string([*sets, *free])
    # A fuzzy string may take one string from each set.
    return all(may_share_a_string([one, *free]) for one in sets)


def _time_exists(satisfied: Sequence[TypedPredicate], failed: TypedPredicate | None) -> bool:
    free = (REALS,) if failed is None else complement(holds_on(failed))
    return any(map(holds_a_whole_number, in_common([free, *map(holds_on, satisfied)])))


def _holds(predicate: TypedPredicate, value: bool) -> bool:
    return holding(predicate)(value) != predicate.negated
