"""`delivery_ids` says what `delivery_id` says."""

from collections.abc import Sequence
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from shortlist.engine import delivering as bulk
from shortlist.engine.delivering import MOST
from shortlist.model.delivery import delivery_id
from tests.strategies import examples

NONE = np.empty(0, np.int32)
FIRST = np.zeros(1, np.int32)
LETTERS = "az09-_/\0é€😀"


def delivery_ids(
    shortlists: Sequence[str],
    of_shortlist: NDArray[np.int32],
    publications: Sequence[tuple[str, str]],
    of_publication: NDArray[np.int32],
) -> pa.StringArray:
    sources, ids = (
        pa.array([publication[at] for publication in publications], pa.string()) for at in (0, 1)
    )
    hashed = bulk.shortlist_texts(pa.array(shortlists, pa.string()))
    return bulk.delivery_ids(
        hashed, of_shortlist, bulk.publication_texts(sources, ids), of_publication
    )


def one(shortlist: str, source: str, publication: str) -> str:
    return delivery_ids([shortlist], FIRST, [(source, publication)], FIRST)[0].as_py()


def text(draw: Random, longest: int) -> str:
    return "".join(draw.choices(LETTERS, k=draw.randint(0, longest)))


@pytest.mark.parametrize("longest", [5, 25, 200])
def test_thousands(longest: int) -> None:
    draw = Random(longest)
    shortlists = [text(draw, longest) for _ in range(50)]
    publications = [(text(draw, longest), text(draw, longest)) for _ in range(70)]
    of_shortlist = np.array(draw.choices(range(50), k=5_000), np.int32)
    of_publication = np.array(draw.choices(range(70), k=5_000), np.int32)
    found = delivery_ids(shortlists, of_shortlist, publications, of_publication)
    found.validate(full=True)
    assert found.type == pa.string()
    assert found.to_pylist() == [
        delivery_id(shortlists[of_shortlist[row]], *publications[of_publication[row]])
        for row in range(5_000)
    ]


@examples(150)
@given(st.text(), st.text(), st.text())
@example("", "", "")
@example("L2", "b", "p2")
@example("a\0b", "", "c")
@example("shortlist" * 30, "source" * 30, "publication" * 30)
def test_any_delivery(shortlist: str, source: str, publication: str) -> None:
    assert one(shortlist, source, publication) == delivery_id(shortlist, source, publication)


@pytest.mark.parametrize("length", [55, 56, 63, 64, 119, 120])
def test_lengths_at_which_a_block_is_full(length: int) -> None:
    names = "s" * 20, "publisher", "p" * (length - 31)
    assert len("\0".join(names)) == length
    assert one(*names) == delivery_id(*names)


def test_no_deliveries() -> None:
    for shortlists, publications in [([], []), (["L"], [("s", "p")])]:
        found = delivery_ids(shortlists, NONE, publications, NONE)
        found.validate(full=True)
        assert len(found) == 0


@pytest.mark.parametrize("place", range(3))
def test_a_lone_surrogate_is_refused_as_by_the_plain_one(place: int) -> None:
    names = ["L", "s", "p"]
    names[place] = "\ud800"
    for hashed in (one, delivery_id):
        with pytest.raises(UnicodeEncodeError):
            hashed(*names)


def test_numbers_may_come_in_any_array_of_integers() -> None:
    columns = np.array([[1, 0], [0, 1], [1, 1]])
    columns.flags.writeable = False
    found = delivery_ids(["L1", "L2"], columns[:, 0], [("s", "1"), ("s", "2")], columns[:, 1])
    assert found.to_pylist() == [
        delivery_id("L2", "s", "1"),
        delivery_id("L1", "s", "2"),
        delivery_id("L2", "s", "2"),
    ]


def test_more_than_an_arrow_array_holds_is_refused() -> None:
    many = np.broadcast_to(FIRST, (1, MOST + 1))[0]
    with pytest.raises(ValueError, match=f"at most {MOST} deliveries at once, found {MOST + 1}"):
        delivery_ids(["L"], many, [("s", "p")], many)
