"""A registry that was compiled before is what today's code compiles, and answers the same."""

import json

import numpy as np
import pytest

from shortlist.matching.index import storage
from shortlist.matching.index.storage import Arrays, Chained, UnusableIndex, described
from tests.engine.stored_registry import (
    STORED,
    compiled_now,
    delivered,
    made_now,
    opened_now,
    stored,
)

AGAIN = (
    "today's code {}: raise MEANING (or FORMAT, if only the file is another) in"
    " src/shortlist/matching/index/storage.py, then run `python -m tests.engine.stored_registry`"
)


@pytest.fixture
def parts():
    """The stored ones."""
    try:
        return {name: stored(name) for name in ("shard", "admission")}
    except UnusableIndex as error:
        pytest.fail(f"{error}; run `python -m tests.engine.stored_registry`")


def is_same(one, other):
    """Whether parts are the same: whole numbers exactly, degrees but for their last digits."""
    (document, arrays), (other_document, others) = flat(one), flat(other)
    return document == other_document and all(map(is_same_array, arrays, others))


def flat(part):
    arrays = Arrays()
    document = json.loads(json.dumps(described(part, arrays)))
    return document, [each.whole() if isinstance(each, Chained) else each for each in arrays]


def is_same_array(one, other):
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.kind == "f":
        return np.allclose(one, other, rtol=1e-12, atol=0, equal_nan=True)
    return bool(np.array_equal(one, other))


@pytest.mark.parametrize("name", ["shard", "admission"])
def test_todays_code_compiles_the_same(parts, name):
    before, now = parts[name], compiled_now()[name]
    assert before.keys() == now.keys(), AGAIN.format("compiles a registry to other parts")
    changed = [part for part in before if not is_same(before[part], now[part])]
    assert not changed, AGAIN.format(f"compiles a registry to other {', '.join(changed)}")


def test_todays_code_reads_the_same_in_it(parts):
    lines = (STORED / "deliveries.jsonl").read_text().splitlines()
    assert len(lines) > 500
    assert delivered(*made_now()) == lines, AGAIN.format("answers otherwise")
    assert delivered(*opened_now(**parts)) == lines, AGAIN.format("reads the same otherwise")


def test_one_of_another_version_is_not_opened(monkeypatch):
    monkeypatch.setattr(storage, "VERSION", f"{storage.FORMAT}.{storage.MEANING + 1}")
    with pytest.raises(UnusableIndex, match=r"is of version [\d.]+, not [\d.]+: another release"):
        stored("shard")
