"""Values in messages: short, printable, and never a surprise of their own."""

from hypothesis import given
from hypothesis import strategies as st

from shortlist.model.problem import InvalidRegistry, Problem
from shortlist.model.wording import LONGEST, one_line, shown

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec=None)), inner),
)


@given(values)
def test_any_value_is_short_and_printable(value):
    assert shown(value).isprintable()
    assert len(shown(value)) <= LONGEST


def test_values_read_as_files_write_them():
    assert shown([None, True, 1.5, "a", [], {}]) == "[null, true, 1.5, 'a', [], {}]"
    assert shown([[1, [2, [3]]]]) == "[[1, […]]]"
    assert shown(list(range(9))) == "[0, 1, 2, 3, 4, 5, …]"
    assert shown({"a": {"b": {"c": 1}}}) == "{a: {b: {…}}}"
    assert shown(1 << 20_000) == "a number of over 4300 digits"
    assert shown(b"\0") == r"b'\x00'"
    assert shown(object()) == "a value of the type object"


@given(st.text(st.characters(codec=None)))
def test_a_problem_is_one_line(text):
    problem = Problem(message=text or "x", file=text, id=text, field=text, column=3)
    assert one_line(str(problem)) == str(problem)
    assert str(InvalidRegistry([problem, problem])).count("\n") == 1
