"""Attribute names, read and written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.model.paths import format_path, parse_path


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_names_survive_being_written(keys):
    assert parse_path(format_path(tuple(keys))) == tuple(keys)
    assert parse_path(format_path(tuple(keys), frozenset({"in"}))) == tuple(keys)


@pytest.mark.parametrize(
    "text", ["", ".", "a.", ".a", "a..b", "a b", "1a", '"a', 'a"b"', "a-b", "a.1"]
)
def test_what_is_no_name(text):
    with pytest.raises(ValueError, match=r"is not an attribute name: column \d+: expected a name"):
        parse_path(text)
