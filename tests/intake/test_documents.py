"""What is looked at before a document is read."""

from hypothesis import given
from hypothesis import strategies as st

from shortlist.intake.nested import is_too_deep

scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=2)
documents = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=12,
)


def depth(document: object) -> int:
    """How many objects and lists are around the innermost value."""
    if isinstance(document, dict):
        document = list(document.values())
    if not isinstance(document, list | tuple) or not document:
        return 0
    return 1 + max(map(depth, document))


@given(documents, st.integers(0, 6))
def test_depth(document: object, most: int) -> None:
    assert is_too_deep(document, most) == (depth(document) > most)


def test_what_holds_itself_is_too_deep() -> None:
    endless: list[object] = []
    endless.append({"again": endless})
    assert is_too_deep(endless, 32)


def test_many_names_of_one_object_are_looked_at_once() -> None:
    doubled: object = [1]
    for _ in range(200):
        doubled = [doubled, doubled]
    assert is_too_deep(doubled, 200)
    assert not is_too_deep(doubled, 201)
