"""Covering of crisp conjunctions against brute force, on values that the matcher itself judges."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations, product

from hypothesis import event, given
from hypothesis import strategies as st

from shortlist.covering.covers import exactly_covers, where_covers, where_intersects
from shortlist.fuzzy.sets import Graded, Trapezoid
from shortlist.language.printer import print_where
from shortlist.language.tree import (
    And,
    Between,
    Comparison,
    Exists,
    In,
    Predicate,
    TextMatch,
    Where,
)
from shortlist.matching.predicates import judge
from shortlist.matching.values import Many, Value, Values
from shortlist.model.paths import CONTEXT, Path
from shortlist.model.publication import Publication
from shortlist.model.times import format_time
from tests.covering.covering_pool import FIRST_INSTANT, POOLS, SOURCE, TIME, TYPE, VOCABULARY, WHEN
from tests.strategies import examples

HALVES = [half / 2 for half in range(-2, 9)]
INSTANTS = [FIRST_INSTANT + micros for micros in range(-1, 5)]


def words(letters: str, longest: int) -> list[str]:
    lengths = range(longest + 1)
    return ["".join(word) for length in lengths for word in product(letters, repeat=length)]


# Order is decided by the first two characters; the rest is long enough to hold every literal.
SHORT, REST = words("Aabcd", 2), words("Aac", 4)
STRINGS = list(dict.fromkeys(start + rest for rest in REST for start in SHORT))


def publication(source: str = "s", time: int = 0, **fields: object) -> Publication:
    return Publication(id="p", source=source, time=time, position=0, **fields)  # type: ignore[arg-type]


@cache
def grid(path: Path) -> list[Value | Many | None]:
    """Values of an attribute: beside, on and between the literals, and of other types."""
    if path == SOURCE:
        found = [publication(source=text) for text in STRINGS]
    elif path == TYPE:
        found = [publication(type=text) for text in [None, *STRINGS]]
    elif path == TIME:
        found = [publication(time=micros) for micros in INSTANTS]
    else:
        strings = [format_time(micros) for micros in INSTANTS] if path == WHEN else STRINGS
        betweens = [{"between": list(pair)} for pair in combinations(HALVES, 2)]
        graded = [{"values": dict.fromkeys(pair, 1)} for pair in combinations(SHORT[:20], 2)]
        plain = [None, True, False, [1], {"odd": 1}, {"trapezoid": [0, 1, 2, 3]}, *HALVES, *strings]
        found = [publication(data={path[0]: value}) for value in [*plain, *betweens, *graded]]
    return [Values(VOCABULARY).of(each)(path) for each in found]


def holds(predicate: Predicate, value: Value | Many | None) -> bool:
    return judge(predicate, VOCABULARY)(value).degrees.possibility > 0


KNOWN: dict[str, int] = {}


def held(predicate: Predicate) -> int:
    """The values of the grid that satisfy a predicate, as bits."""
    text = print_where(predicate)  # in which true and 1 differ
    if text not in KNOWN:
        values = enumerate(grid(predicate.path))
        KNOWN[text] = sum(1 << place for place, value in values if holds(predicate, value))
    return KNOWN[text]


@cache
def considered(path: Path, crisp_only: bool) -> int:
    fuzzy = (Trapezoid, Graded) if crisp_only else ()
    return sum(1 << place for place, value in enumerate(grid(path)) if not isinstance(value, fuzzy))


def value_exists(
    path: Path, satisfied: Sequence[Predicate], failed: Predicate | None, crisp_only: bool
) -> bool:
    """Whether a value satisfies some predicates and fails another."""
    excluded = held(failed) if failed else 0
    found = considered(path, crisp_only) & ~excluded
    for predicate in satisfied:
        found &= held(predicate)
    if found or crisp_only or path in CONTEXT or not all(map(may_hold_on_text, satisfied)):
        return bool(found)
    # a fuzzy string made for the purpose: one string for each predicate
    chosen = [first_string(path, held(predicate) & ~excluded) for predicate in satisfied]
    strings = [string for string in chosen if string is not None]
    return len(strings) == len(chosen) > 0 and all(
        holds(predicate, Graded(dict.fromkeys(strings, 1.0))) != (predicate is failed)
        for predicate in [*satisfied, *([failed] if failed else [])]
    )


def first_string(path: Path, bits: int) -> str | None:
    values = enumerate(grid(path))
    return next(
        (value for place, value in values if bits >> place & 1 and isinstance(value, str)), None
    )


def may_hold_on_text(predicate: Predicate) -> bool:
    match predicate:
        case Exists(_, negated):
            return not negated
        case Comparison(_, _, value) | Between(_, value, _) | In(_, (value, *_)):
            return isinstance(value, str)
    return isinstance(predicate, TextMatch)


def grid_intersects(members: Iterable[Predicate], crisp_only: bool) -> bool:
    """Attributes are independent of one another."""
    by_path = defaultdict(list)
    for member in members:
        by_path[member.path].append(member)
    return all(value_exists(path, given, None, crisp_only) for path, given in by_path.items())


def grid_covers(general: list[Predicate], special: list[Predicate], crisp_only: bool) -> bool:
    """So one predicate has to fail on its own."""
    if not grid_intersects(special, crisp_only):
        return True
    return not any(
        value_exists(
            failed.path,
            [given for given in special if given.path == failed.path],
            failed,
            crisp_only,
        )
        for failed in general
    )


def conjunctions(pool: list[Predicate]) -> st.SearchStrategy[list[Predicate]]:
    return st.lists(st.sampled_from(pool), min_size=1, max_size=3)


EVERYTHING = [predicate for pools in POOLS.values() for pool in pools for predicate in pool]
OF_ONE_TYPE = [pool + pools[-1] for pools in POOLS.values() for pool in pools[:-1]]
PAIRS = st.one_of(
    [st.tuples(conjunctions(pool), conjunctions(pool)) for pool in [EVERYTHING, *OF_ONE_TYPE]]
)


def as_where(members: list[Predicate]) -> Where:
    return members[0] if len(members) == 1 else And(tuple(members))


@examples(333)
@given(PAIRS, st.booleans())
def test_covering_is_exact(pair: tuple[list[Predicate], list[Predicate]], crisp_only: bool) -> None:
    general, special = pair
    a, b = as_where(general), as_where(special)
    expected = grid_covers(general, special, crisp_only)
    event(f"covers: {expected}")
    assert where_covers(a, b, VOCABULARY, crisp_only) == expected
    if not crisp_only:
        assert exactly_covers(a, b, VOCABULARY) == expected


@examples(166)
@given(PAIRS, st.booleans())
def test_intersecting_is_exact(
    pair: tuple[list[Predicate], list[Predicate]], crisp_only: bool
) -> None:
    one, other = pair
    expected = grid_intersects([*one, *other], crisp_only)
    event(f"intersects: {expected}")
    assert where_intersects(as_where(one), as_where(other), VOCABULARY, crisp_only) == expected
