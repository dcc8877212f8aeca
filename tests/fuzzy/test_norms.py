from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.fuzzy.degrees import Degrees, conjunction, disjunction, negation
from shortlist.model.subscription import NORMS, Weights

shares = st.floats(0, 1)
degrees = st.tuples(shares, shares).map(lambda pair: Degrees(max(pair), min(pair)))
levels = st.lists(degrees, min_size=1, max_size=6)
every_norm = pytest.mark.parametrize("norm", NORMS)
t_norms = pytest.mark.parametrize("norm", ["min", "product", "lukasiewicz"])
both = pytest.mark.parametrize("combine", [conjunction, disjunction])


def near(one, other):
    return all(isclose(a, b, rel_tol=0, abs_tol=1e-12) for a, b in zip(one, other, strict=True))


def constant(*values):
    return [Degrees(value, value) for value in values]


@pytest.mark.parametrize(
    ("norm", "both_hold", "one_holds"),
    [
        ("min", 0.5, 0.75),
        ("product", 0.375, 0.875),
        ("lukasiewicz", 0.25, 1.0),
        ("average", 0.625, 0.625),
        ("max", 0.75, 0.75),
    ],
)
def test_two_operands(norm, both_hold, one_holds):
    operands = constant(0.5, 0.75)
    assert conjunction(norm, operands) == Degrees(both_hold, both_hold)
    assert disjunction(norm, operands) == Degrees(one_holds, one_holds)


def test_three_operands_are_one_level():
    operands = constant(0.75, 0.75, 0.75)
    assert conjunction("lukasiewicz", operands).possibility == 0.25
    assert conjunction("product", operands).possibility == 0.75**3
    assert conjunction("average", constant(1, 0.5, 0)).possibility == 0.5
    nested = [conjunction("average", constant(1, 0.5)), *constant(0)]
    assert conjunction("average", nested).possibility == 0.375


def test_known_answer_size_price_age():
    assert conjunction("min", constant(0.5, 1, 0.75)) == Degrees(0.5, 0.5)


def test_possibility_and_necessity_do_not_mix():
    operands = [Degrees(1, 0.25), Degrees(0.5, 0.5)]
    assert conjunction("min", operands) == Degrees(0.5, 0.25)
    assert disjunction("min", operands) == Degrees(1, 0.5)


def test_weights():
    assert conjunction(Weights((3, 1)), constant(1, 0)) == Degrees(0.75, 0.75)
    assert conjunction(Weights((0, 2)), constant(1, 0.5)) == Degrees(0.5, 0.5)
    assert conjunction(Weights((1e308, 1e308, 1e308)), constant(1, 1, 1)) == Degrees(1, 1)
    with pytest.raises(ValueError, match="2 weights for 3 predicates"):
        conjunction(Weights((1, 2)), constant(1, 1, 1))
    with pytest.raises(ValueError, match="flat conjunction only"):
        disjunction(Weights((1, 2)), constant(1, 1))


@given(levels)
def test_equal_weights_are_the_average(operands):
    weights = Weights((0.3,) * len(operands))
    assert near(conjunction(weights, operands), conjunction("average", operands))


@every_norm
@both
@given(operand=degrees)
def test_one_operand_stands_for_itself(norm, combine, operand):
    assert combine(norm, [operand]) == operand


@every_norm
@both
@given(operands=levels)
def test_possibility_stays_above_necessity_within_0_and_1(norm, combine, operands):
    possibility, necessity = combine(norm, operands)
    assert -1e-12 <= necessity <= possibility + 1e-12 <= 1 + 2e-12


@every_norm
@both
@given(operands=levels, data=st.data())
def test_order_does_not_matter(norm, combine, operands, data):
    shuffled = data.draw(st.permutations(operands))
    assert near(combine(norm, operands), combine(norm, shuffled))


@every_norm
@both
@given(pairs=st.lists(st.tuples(shares, shares), min_size=1, max_size=6))
def test_monotone(norm, combine, pairs):
    lower = combine(norm, constant(*map(min, pairs))).possibility
    assert lower <= combine(norm, constant(*map(max, pairs))).possibility + 1e-12


@pytest.mark.parametrize("norm", ["min", "product", "lukasiewicz", "max"])
@both
@given(a=degrees, b=degrees, c=degrees)
def test_associative(norm, combine, a, b, c):
    left = combine(norm, [combine(norm, [a, b]), c])
    assert near(left, combine(norm, [a, combine(norm, [b, c])]))
    assert near(left, combine(norm, [a, b, c]))


@t_norms
@given(operand=degrees)
def test_boundaries(norm, operand):
    assert near(conjunction(norm, [operand, Degrees(1, 1)]), operand)
    assert conjunction(norm, [operand, Degrees(0, 0)]) == Degrees(0, 0)
    assert near(disjunction(norm, [operand, Degrees(0, 0)]), operand)
    assert near(disjunction(norm, [operand, Degrees(1, 1)]), Degrees(1, 1))


@t_norms
@given(operands=levels)
def test_conjunction_is_below_min_and_disjunction_above_max(norm, operands):
    lowest = min(operand.possibility for operand in operands)
    highest = max(operand.possibility for operand in operands)
    assert conjunction(norm, operands).possibility <= lowest + 1e-12
    assert disjunction(norm, operands).possibility >= highest - 1e-12


@pytest.mark.parametrize("norm", ["min", "product", "lukasiewicz", "average"])
@given(operands=levels)
def test_de_morgan(norm, operands):
    negated = [negation(operand) for operand in operands]
    assert near(negation(conjunction(norm, operands)), disjunction(norm, negated))
    assert near(negation(disjunction(norm, operands)), conjunction(norm, negated))


@pytest.mark.parametrize("norm", ["average", "max"])
@given(operands=levels)
def test_and_is_or(norm, operands):
    assert conjunction(norm, operands) == disjunction(norm, operands)
