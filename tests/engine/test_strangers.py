"""What strangers wrote is refused before it is unpacked, however small it is packed."""

import zlib

import numpy as np
import pyarrow as pa
import pytest

from shortlist.engine import strangers
from shortlist.engine.saved import PARTS, Saved, UnusableState, packed
from shortlist.engine.strangers import (
    BOUND_RATIO,
    UnreadableBytes,
    bound_of,
    check_unpacked,
    read_stream,
)

MEGABYTE = 2**20


@pytest.fixture(autouse=True)
def bounds_are_small(monkeypatch):
    monkeypatch.setattr(strangers, "LEAST_BOUND", MEGABYTE)


def stream(batch, codec=None, count=1):
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        for _ in range(count):
            writer.write_batch(batch)
    return bytes(sink.getvalue())


ZEROS = pa.record_batch({"n": np.zeros(2 * MEGABYTE, np.int64)})


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
def test_a_table_is_measured_by_what_it_says_that_it_unpacks_to(codec):
    content = stream(ZEROS, codec, count=2)
    assert read_stream(content, 40 * MEGABYTE).num_rows == 4 * MEGABYTE
    with pytest.raises(UnreadableBytes, match=r"a table that unpacks to .* bytes, more than"):
        read_stream(content, 30 * MEGABYTE)


def test_a_column_of_nulls_counts_by_its_rows():
    content = stream(pa.record_batch({"n": pa.nulls(12_345)}))
    rows, more = (number.to_bytes(8, "little") for number in (12_345, 2**40))
    assert rows in content
    content = content.replace(rows, more)
    with pytest.raises(UnreadableBytes, match="unpacks to 1,099,511,627,776 bytes"):
        read_stream(content, bound_of(len(content)))


def test_a_text_of_a_dictionary_counts_for_every_row():
    column = pa.array(["x" * 999, None]).dictionary_encode().take(pa.array([0, 1] * 1_000))
    content = stream(pa.record_batch({"n": column}))
    assert read_stream(content, MEGABYTE).column("n").to_pylist()[:2] == ["x" * 999, None]
    with pytest.raises(UnreadableBytes, match="a table that unpacks to 999,000 bytes"):
        read_stream(content, MEGABYTE // 2)


def test_a_dictionary_is_measured_by_what_it_says():
    column = pa.array(["x" * MEGABYTE]).dictionary_encode()
    content = stream(pa.record_batch({"n": column}), "zstd")
    with pytest.raises(UnreadableBytes, match=r"a table that unpacks to 1,048,\d+ bytes"):
        read_stream(content, MEGABYTE // 2)


def test_offsets_that_lead_elsewhere_are_found_before_they_are_used():
    content = stream(pa.record_batch({"text": ["one", "two"]}))
    offsets = b"\0\0\0\0\3\0\0\0\6\0\0\0"
    assert offsets in content
    for wrong in (b"\0\0\0\0\377\377\377\177\6\0\0\0", b"\0\0\0\0\7\0\0\0\6\0\0\0"):
        with pytest.raises(UnreadableBytes, match="a damaged table"):
            read_stream(content.replace(offsets, wrong))


@pytest.mark.parametrize("piece", [b" ", b"[],", b'"x",'])
def test_json_is_measured_as_objects(piece):
    content = zlib.compress(piece * (3 * MEGABYTE // len(piece)))
    with pytest.raises(UnreadableBytes, match="bytes that unpack to more than"):
        check_unpacked(content, bound_of(len(content)))
    few = zlib.compress(piece * (MEGABYTE // 100 // len(piece)))
    check_unpacked(few, bound_of(len(few)))


def test_a_registry_that_repeats_itself_is_within_its_bound():
    where = " or ".join(f"city = 'number {number}'" for number in range(100))
    same = [{"id": f"s{number}", "where": where} for number in range(2_000)]
    content = packed({"subscriptions": same})
    check_unpacked(content, BOUND_RATIO * len(content))
    with pytest.raises(UnreadableBytes):
        check_unpacked(content, len(content))


def state(registry, document, **tables):
    parts = {"registry": registry, "document": document, **tables}
    return b"shortlist state 6\n" + stream(pa.record_batch([[*parts], [*parts.values()]], PARTS))


DEEP = zlib.compress(b"[" * 200_000)
BOMB = zlib.compress(b"{}" + b" " * (3 * MEGABYTE))


@pytest.mark.parametrize(
    "content",
    [
        b"shortlist state " + b"6" * 5_000 + b"\n",
        b"shortlist state 6\n",
        b"shortlist state 6\n" + stream(pa.record_batch({"name": ["registry"]})),
        b"shortlist state 6\n"
        + stream(pa.record_batch([["registry", "document"], [b"", None]], PARTS)),
        state(packed({}), DEEP),
        state(packed({}), BOMB),
        state(packed({}), packed({}), table=b"no table"),
        state(packed({}), packed({}), table=stream(ZEROS, count=2)),
    ],
    ids=range(8),
)
def test_a_state_of_another_shape_is_refused_in_a_line(content):
    with pytest.raises(UnusableState, match=r"^expected a (whole )?state") as found:
        Saved.of_bytes(content, bounded=True)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("registry", [DEEP, BOMB, packed([]), b"x"])
def test_a_registry_of_another_shape_is_refused(registry):
    with pytest.raises(UnusableState, match="expected a"):
        Saved.of_bytes(state(registry, packed({})), bounded=True).check()


def test_what_a_deployment_wrote_is_read_whatever_its_size():
    document = {"texts": [""] * 2**18}
    content = Saved(packed({}), document).to_bytes()
    assert Saved.of_bytes(content).document == document
    with pytest.raises(UnusableState, match="unpack to more than"):
        Saved.of_bytes(content, bounded=True)
