"""Lines and order in bulk are those of `Delivery.document` and `Delivery.order`, one by one."""

import json
from collections.abc import Sequence
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shortlist.engine.deliveries import (
    COLUMNS,
    DELIVERIES,
    ORDER,
    file_schema,
    file_text,
    lines,
    put_in_order,
)
from shortlist.model.delivery import Delivery
from shortlist.model.publication import Publication
from shortlist.model.times import parse_time
from tests.strategies import examples

NAMES = [
    "L",
    "",
    "reader-000001",
    "reader-000010",
    'a"b',
    "a\\b",
    "\n\t\x00\x1f\x7f",
    "é€😀",
    "\u2028",
]
SCORES = [
    1e-07,
    1e-05,
    0.0001,
    1e10,
    1e16,
    1e22,
    -0.0,
    0.0,
    123456789.123456789,
    0.1,
    5e-324,
    1e300,
]
FIRST, LAST = parse_time("0001-01-01T00:00:00Z"), parse_time("9999-12-31T23:59:59.999999Z")
TEXTS = [field.name for field in DELIVERIES if field.type == pa.string()]

names = st.sampled_from(NAMES) | st.text(st.characters(exclude_categories=["Cs"]))
numbers = st.sampled_from(SCORES) | st.floats(allow_nan=False, allow_infinity=False)
times = st.sampled_from([0, 1, -1, -1_000, 1_500_000]) | st.integers(FIRST, LAST)


@st.composite
def drawn_deliveries(draw: st.DrawFn) -> list[Delivery]:
    return draw(
        st.lists(
            st.builds(
                delivery,
                times,
                st.lists(names, min_size=5, max_size=5),
                st.lists(numbers, min_size=3, max_size=3),
                st.none() | st.integers(1, 9),
                st.integers(-3, 3),
                st.dictionaries(names, names, max_size=2),
            ),
            max_size=6,
        )
    )


def delivery(
    time: int,
    texts: Sequence[str] = ("L", "ann", "b", "p", "s"),
    degrees: Sequence[float] = (-2.0, 1.0, 0.5),
    rank: int | None = None,
    position: int = 0,
    data: dict[str, Any] | None = None,
) -> Delivery:
    shortlist, subscriber, source, publication, subscription = texts
    score, possibility, necessity = degrees
    return Delivery(
        time=time,
        shortlist=shortlist,
        subscriber=subscriber,
        publication=Publication(
            id=publication, source=source, time=time, position=position, data=data or {}
        ),
        subscription=subscription,
        score=score,
        possibility=possibility,
        necessity=necessity,
        rank=rank,
        cause="arrival" if rank is None else "promotion",
    )


def plain_table(deliveries: Sequence[Delivery], with_data: bool = True) -> pa.Table:
    rows = []
    for each in deliveries:
        data = json.dumps(each.publication.data, ensure_ascii=False) if with_data else None
        rows.append(each.columns() | {"data": data, "position": each.publication.position})
    return pa.Table.from_pylist(rows, DELIVERIES)


def with_dictionaries(table: pa.Table) -> pa.Table:
    for name in TEXTS:
        place = table.column_names.index(name)
        table = table.set_column(place, name, table.column(name).dictionary_encode())
    return table


def forms(deliveries: Sequence[Delivery], with_data: bool = True) -> list[pa.Table]:
    """Columns plain, cut from longer ones, and as places in dictionaries: one, several, or one of
    many more names than are used."""
    plain = plain_table(deliveries, with_data)
    cut = pa.concat_tables([plain.slice(0, 1), plain]).combine_chunks().slice(1)
    longer = pa.concat_tables([plain, plain_table([delivery(7)] * 9)])
    few_of_many = with_dictionaries(longer.combine_chunks()).slice(0, len(deliveries))
    chunks = pa.concat_tables([with_dictionaries(part) for part in (cut.slice(0, 2), cut.slice(2))])
    return [plain, cut, with_dictionaries(plain), chunks, few_of_many]


@examples(50)
@given(drawn_deliveries(), st.booleans())
@example([], True)
@example([delivery(0), delivery(1_001), delivery(FIRST), delivery(LAST), delivery(-1)], True)
@example([delivery(0, degrees=(score, -score, 1.0)) for score in SCORES], False)
@example([delivery(0, (name,) * 5, data={name: name}) for name in NAMES], True)
def test_lines_are_documents(deliveries: list[Delivery], with_data: bool) -> None:
    wanted = [json.dumps(each.document(with_data), ensure_ascii=False) for each in deliveries]
    for table in forms(deliveries):
        found = lines(table, with_data)
        found.validate(full=True)
        assert found.to_pylist() == wanted
        assert bytes(file_text(table, with_data)).decode() == "".join(
            f"{line}\n" for line in wanted
        )


def test_data_that_was_not_asked_for_is_left_out() -> None:
    with_and_without = pa.concat_tables(
        [plain_table([delivery(0)], with_data) for with_data in (True, False)]
    )
    for table in (with_and_without, with_dictionaries(with_and_without)):
        found = [json.loads(line) for line in lines(table, with_data=True).to_pylist()]
        assert ["data" in document for document in found] == [True, False]


@pytest.mark.parametrize("scale", [1e-300, 1e-5, 1e-3, 1.0, 1e12, 1e15, 1e300])
def test_thousands_of_numbers_are_as_python_writes_them(scale: float) -> None:
    draw = Random(repr(scale))
    drawn = [draw.choice([-1, 1]) * draw.random() * scale for _ in range(3_000)]
    for scores in (drawn, [round(score, 3) for score in drawn], drawn[:5] * 600):
        one = plain_table([delivery(0)]).drop_columns(["score"])
        table = pa.concat_tables([one] * len(scores)).append_column("score", [scores])
        found = [line.split('"score": ')[1] for line in lines(table, False).to_pylist()]
        assert [line.split(",")[0] for line in found] == [repr(score) for score in scores]


def test_what_is_not_finite_is_as_python_writes_it() -> None:
    odd = [float("inf"), float("-inf"), float("nan")]
    [line] = lines(plain_table([delivery(0, degrees=odd)]), with_data=False).to_pylist()
    assert '"score": inf, "possibility": -inf, "necessity": nan' in line


@pytest.mark.parametrize("name", ["id", "time", "shortlist", "cause"])
def test_a_name_or_time_that_is_missing_is_refused(name: str) -> None:
    place = DELIVERIES.get_field_index(name)
    nothing = pa.nulls(1, DELIVERIES.field(name).type)
    table = plain_table([delivery(0)]).set_column(place, name, nothing)
    for missing in (table, with_dictionaries(table)):
        with pytest.raises(ValueError, match=f"expected a {name} for each delivery"):
            lines(missing, with_data=False)


def test_times_of_another_zone_are_the_same_instants() -> None:
    table = plain_table([delivery(1_500_000)])
    elsewhere = table.set_column(1, "time", table["time"].cast(pa.timestamp("us", "Asia/Tokyo")))
    assert lines(elsewhere, with_data=False) == lines(table, with_data=False)


@examples(50)
@given(
    st.lists(
        st.tuples(
            st.integers(-2, 2),
            st.integers(-1, 1),
            st.text(st.sampled_from("aab\0é€😀\uffff"), max_size=12) | st.sampled_from(NAMES),
        ),
        max_size=20,
    )
)
def test_order_is_that_of_tuples(keys: list[tuple[int, int, str]]) -> None:
    deliveries = [
        delivery(time, (shortlist, f"{number}", "", "", ""), position=position)
        for number, (time, position, shortlist) in enumerate(keys)
    ]
    wanted = sorted(deliveries, key=lambda each: each.order)
    for table in forms(deliveries):
        found = put_in_order(table)
        assert found.column("subscriber").to_pylist() == [each.subscriber for each in wanted]
        assert put_in_order(found) is found


def test_thousands_in_order() -> None:
    draw = Random(1)
    deliveries = [
        delivery(
            draw.randrange(9),
            (f"reader-{draw.randrange(500):06}", "", "", "", ""),
            position=draw.randrange(5),
        )
        for _ in range(5_000)
    ]
    shards = [put_in_order(plain_table(deliveries[shard::3])) for shard in range(3)]
    found = put_in_order(pa.concat_tables(shards))
    columns = found.set_column(1, "time", found.column("time").cast(pa.int64()))
    keys = zip(*(columns.column(name).to_pylist() for name in ORDER), strict=True)
    assert [*keys] == sorted(each.order for each in deliveries)


def test_the_schema_has_what_documents_have() -> None:
    one = delivery(0)
    assert tuple(one.document()) == COLUMNS == tuple(file_schema(with_data=False).names)
    assert [*one.document(with_data=True)] == file_schema(with_data=True).names
