"""What follows from a conjunction of predicates, whatever the publication."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from shortlist.covering.text_sets import may_share_a_string, outside, text_set
from shortlist.fuzzy.intervals import REALS, complement
from shortlist.language.tree import And, Between, Comparison, Exists, In, Is, Or, TextMatch, Where
from shortlist.matching.predicates import (
    holding,
    holds_a_whole_number,
    holds_on,
    in_common,
    literal,
)
from shortlist.model.paths import CONTEXT, EVENT_TIME, Path
from shortlist.model.times import Instant
from shortlist.model.vocabulary import Vocabulary

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
    if kind is str:
        return _text_may_exist(satisfied, failed, fuzzy)
    if kind in (float, Instant):
        free = (REALS,) if failed is None else complement(holds_on(failed))
        sets = [holds_on(predicate) for predicate in satisfied]
        if kind is Instant:
            return any(map(holds_a_whole_number, in_common([free, *sets])))
        if not fuzzy:
            return bool(in_common([free, *sets]))
        # A support lies within one component; the hull of a point of each set is such a support.
        return any(all(any(map(component.meets, one)) for one in sets) for component in free)
    return any(
        all(_holds(predicate, value) for predicate in satisfied)
        and (failed is None or not _holds(failed, value))
        for value in (False, True)
    )


def _text_may_exist(
    satisfied: Sequence[TypedPredicate], failed: TypedPredicate | None, fuzzy: bool
) -> bool:
    free = [] if failed is None else [outside(text_set(failed))]
    sets = [text_set(predicate) for predicate in satisfied]
    if not fuzzy:
        return may_share_a_string([*sets, *free])
    # A fuzzy string may take one string from each set.
    return all(may_share_a_string([one, *free]) for one in sets)


def _holds(predicate: TypedPredicate, value: bool) -> bool:
    return holding(predicate)(value) != predicate.negated


CASES = 256
"""How many conjunctions the alternatives within one conjunction may be multiplied out to."""

ALWAYS_PRESENT: frozenset[Path] = CONTEXT - {("event", "type")}

FUZZY_VALUE_KEYS = frozenset(("term", "trapezoid", "between", "values", "shape", "left", "right"))

Members = tuple[Where, ...]


def cases(where: Where | None) -> list[Members]:
    """Conjunctions, one of which holds where the condition does (under `min`), and the reverse.

    Members are predicates, and whole alternatives where multiplying them out would be too many.

    >>> x, y, z = (Exists((name,)) for name in "xyz")
    >>> cases(And((x, Or((y, z))))) == [(x, y), (x, z)]
    True
    """
    if where is None:
        return [()]
    if isinstance(where, Or):
        return [case for operand in where.operands for case in cases(operand)]
    if not isinstance(where, And):
        return [(where,)]
    found: list[Members] = [()]
    for operand in where.operands:
        parts = cases(operand)
        if len(found) * len(parts) > CASES:
            parts = [(operand,)]
        found = [case + part for case in found for part in parts]
    return found


class Conjunction:
    """Predicates (and whole alternatives, which are not looked into) that hold together.

    Nothing is said about multi-valued attributes but what is present, since one element may satisfy
    one predicate and another the next. Fuzzy predicates are only told apart.
    """

    def __init__(
        self, members: Iterable[Where], vocabulary: Vocabulary, crisp_values_only: bool
    ) -> None:
        self._vocabulary = vocabulary
        self._crisp_values_only = crisp_values_only
        self._present: set[Path] = set(ALWAYS_PRESENT)
        self._absent: set[Path] = set()
        self._typed: dict[Path, list[TypedPredicate]] = defaultdict(list)
        self._opaque: set[str] = set()  # as text, in which true and 1 differ
        for member in members:
            if isinstance(member, And | Or):
                self._opaque.add(repr(member))
            elif isinstance(member, Exists) and member.negated:
                self._absent.add(member.path)
            else:
                self._present.add(member.path)
                if isinstance(member, Is) or vocabulary.of(member.path).many:
                    self._opaque.add(repr(member))
                elif not isinstance(member, Exists):
                    self._typed[member.path].append(member)

    def is_impossible(self) -> bool:
        """Whether no publication can make it hold; exact for crisp predicates on single values.

        >>> from shortlist.language.tree import Comparison
        >>> drama, comedy = (Comparison(("genre",), "=", genre) for genre in ("drama", "comedy"))
        >>> Conjunction([drama, comedy], Vocabulary(), crisp_values_only=True).is_impossible()
        True
        >>> Conjunction([drama, comedy], Vocabulary(), crisp_values_only=False).is_impossible()
        False
        """
        return (
            not self._present.isdisjoint(self._absent)
            or any(
                path[:length] in self._present and self._exclude_each_other(path[:length], path)
                for path in self._present
                for length in range(1, len(path))
            )
            or not all(self._may_hold(path, predicates) for path, predicates in self._typed.items())
        )

    def implies(self, where: Where) -> bool:
        """Whether the condition must hold too, given that this can hold at all.

        >>> from shortlist.language.tree import Comparison
        >>> below = [Comparison(("rent",), "<", limit) for limit in (900.0, 1000.0)]
        >>> Conjunction(below[:1], Vocabulary(), crisp_values_only=False).implies(below[1])
        True
        """
        if isinstance(where, Exists):
            return (
                self._implies_absence(where.path) if where.negated else where.path in self._present
            )
        if isinstance(where, And):
            return repr(where) in self._opaque or all(map(self.implies, where.operands))
        if isinstance(where, Or):
            return repr(where) in self._opaque or any(map(self.implies, where.operands))
        if isinstance(where, Is) or self._vocabulary.of(where.path).many:
            return repr(where) in self._opaque
        return self._implies_typed(where)

    def _implies_absence(self, path: Path) -> bool:
        return path in self._absent or any(
            self._exclude_each_other(path, present) for present in self._present
        )

    def _implies_typed(self, predicate: TypedPredicate) -> bool:
        path = predicate.path
        given = self._typed.get(path, [])
        if not given and path not in CONTEXT & self._present:
            return False
        kind = predicate_type(given[0]) if given else _context_type(path)
        return predicate_type(predicate) is kind and not may_exist(
            given, predicate, self._is_fuzzy(path)
        )

    def _may_hold(self, path: Path, predicates: list[TypedPredicate]) -> bool:
        kinds = set(map(predicate_type, predicates))
        return (
            len(kinds) == 1
            and self._may_have(path, *kinds)
            and may_exist(predicates, None, self._is_fuzzy(path))
        )

    def _may_have(self, path: Path, kind: type) -> bool:
        if path in CONTEXT:
            return kind is _context_type(path)
        return kind is not Instant or self._vocabulary.is_time(path)

    def _is_fuzzy(self, path: Path) -> bool:
        return not self._crisp_values_only and path not in CONTEXT

    def _exclude_each_other(self, one: Path, other: Path) -> bool:
        """Whether two attributes cannot both be there: an object that holds one is no value itself.

        Unless it is a fuzzy value; of those, `rent.term` and the like, no more is said.
        """
        short, long = sorted((one, other), key=len)
        return (
            len(short) < len(long)
            and long[: len(short)] == short
            and CONTEXT.isdisjoint((one, other))
            and (self._crisp_values_only or long[len(short)] not in FUZZY_VALUE_KEYS)
        )


def _context_type(path: Path) -> type:
    return Instant if path == EVENT_TIME else str
