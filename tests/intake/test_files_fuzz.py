"""Whatever the bytes of a file are, reading it ends: with what it says, or with one clear error.

Files are read in forked processes with bounded memory, so that a crash is counted like any other
outcome: a signal, an exception that is no error of ours, an allocation that fails.
"""

import bz2
import gzip
import io
import json
import os
import random
import resource
import signal
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from shortlist.engine.stages import Read, ReadTable
from shortlist.intake.cutting import parts_of_file
from shortlist.intake.documents import Documents
from shortlist.intake.entries import EntryReader
from shortlist.intake.files import read_registry
from shortlist.intake.finite_input import FiniteInput
from shortlist.intake.growing_files import GrowingFiles, Place
from shortlist.model.items import Wanted
from shortlist.model.problem import ShortlistError
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary
from shortlist.overlay.topology_files import read_topology
from tests.intake.test_registry_fuzz import GOOD

# Address space beside what the process has when it is forked. What files may take together is
# 512 MiB, twice while columns are joined.
MEMORY = 2**31
# Seconds for one file, many times what any takes: only to end a loop that does not.
PATIENCE = 120
ROWS = 40
TIME = "2026-03-01T09:30:00Z"
TOPOLOGY = {
    "links": [["a", "b"], ["b", "c"]],
    "publishers": {"cinema": "a"},
    "subscribers": {"ann": "c"},
}
WANTED = Wanted(frozenset([("rent",), ("title",), ("deep", "b")]))


def publications() -> pa.Table:
    """Columns of most types that Parquet has, some with values that Python has none for."""
    rows = range(ROWS)
    return pa.table(
        {
            "id": [f"p{row}" for row in rows],
            "source": ["ads"] * ROWS,
            "time": pa.array([row * 10**9 for row in rows], pa.timestamp("us", "UTC")),
            "rent": pa.array(rows, pa.int64()),
            "share": [row / 3 for row in rows],
            "title": pa.array([None, "Ås", "x" * 99, ""] * (ROWS // 4)).dictionary_encode(),
            "tags": [["a", None][: row % 3] for row in rows],
            "deep": [{"a": [row], "b": str(row)} for row in rows],
            "pairs": pa.array([[("k", 1.0)]] * ROWS, pa.map_(pa.string(), pa.float64())),
            "day": pa.array([2**31 - 1] * ROWS, pa.date32()),
            "ago": pa.array([2**62] * ROWS, pa.duration("us")),
            "exact": pa.array([None] * ROWS, pa.decimal128(10, 2)),
            "raw": pa.array([b"\xff\x00"] * ROWS),
            "fine": pa.array([2**62] * ROWS, pa.timestamp("ns")),
            "nothing": pa.nulls(ROWS),
        }
    )


def subscriptions() -> pa.Table:
    policy = {"kind": "top-k", "k": 2}
    return pa.table(
        {
            "id": [f"s{row}" for row in range(ROWS)],
            "where": [f"rent < {row}" for row in range(ROWS)],
            "weight": [1.0 + row for row in range(ROWS)],
            "policy": [json.dumps(policy) if row % 2 else None for row in range(ROWS)],
            "at_least": [{"possibility": 0.5, "necessity": None}] * ROWS,
            "profile": pa.array([[("age", 4.0)]] * ROWS, pa.map_(pa.string(), pa.float64())),
        }
    )


def encoded(table: pa.Table) -> Iterator[bytes]:
    """The table as files of several forms."""
    for number, compression in enumerate(("none", "snappy", "gzip", "zstd")):
        for how in ({"use_dictionary": True}, {"use_dictionary": False}):
            file = io.BytesIO()
            version = "2.0" if number % 2 else "1.0"
            pq.write_table(
                table,
                file,
                compression=compression,
                row_group_size=ROWS // 2,
                data_page_version=version,
                store_schema=number != 1,
                **how,
            )
            yield file.getvalue()


def lines() -> bytes:
    row = {"source": "ads", "time": TIME, "data": {"rent": 9, "tags": ["a"], "deep": {"b": None}}}
    return b"".join(json.dumps({"id": f"p{at}", **row}).encode() + b"\n" for at in range(ROWS))


def read_lines(file: Path) -> None:
    source = FiniteInput.at(file)
    read = Read(vocabulary=Vocabulary(), limits=Limits(), wanted=WANTED)
    for _ in read(source.batches()):
        pass
    assert source.places.ends[-1] == len(source.every_line())


def read_rows(file: Path) -> None:
    source = FiniteInput.at(file)
    source.fits(2**30)
    read = ReadTable(vocabulary=Vocabulary(), limits=Limits(), wanted=WANTED)
    for _ in read(source.batches()):
        pass
    for _ in source.line_batches():
        pass
    source.every_line()
    growing = GrowingFiles(file, tabular=True, finite=True)
    growing.advanced(Place(), growing.listing(), 10)


def read_parts(file: Path) -> None:
    """As a registry is read that is compiled."""
    reader = EntryReader(Documents())
    for part in parts_of_file(file, 2):
        for chunk in part.chunks():
            reader.read(chunk.given, part.place)


def read_folder(file: Path) -> None:
    read_registry(file.parent)


GOOD_LINES = "\n".join(map(json.dumps, GOOD["subscriptions"])).encode()
PUBLICATIONS = [*encoded(publications())]
TABLES = [*encoded(subscriptions())]
KINDS: dict[str, tuple[list[bytes], Callable[[Path], object]]] = {
    "r.yaml": ([yaml.safe_dump(GOOD).encode()], read_registry),
    "r.json": ([json.dumps(GOOD).encode()], read_registry),
    "lines/subscriptions.jsonl": ([GOOD_LINES], read_folder),
    "parts/subscriptions.jsonl": ([GOOD_LINES], read_parts),
    "tables/subscriptions.parquet": (TABLES, read_folder),
    "parts/subscriptions.parquet": (TABLES, read_parts),
    "in.parquet": (PUBLICATIONS, read_rows),
    "rows.parquet": (PUBLICATIONS, read_rows),
    "in.jsonl": ([lines()], read_lines),
    "in.jsonl.gz": ([gzip.compress(lines())], read_lines),
    "in.jsonl.bz2": ([bz2.compress(lines())], read_lines),
    "t.yaml": ([yaml.safe_dump(TOPOLOGY).encode()], read_topology),
    "t.json": ([json.dumps(TOPOLOGY).encode()], read_topology),
}
PIECES = [
    *(b"\n", b"\x00", b"\xff" * 4, b"[" * 200, b"{", b'"', b"&a ", b"*a", b"!!int ", b"<<: *a\n"),
    *(
        b"\t",
        b"- ",
        b"? ",
        b": ",
        b"0x" + b"f" * 6000,
        b"9" * 6000,
        b"1e999",
        b"-",
        b".inf",
        b"null",
    ),
    *(b"\xed\xa0\x80", b"\\ud800", b"!!python/name:os.system", b"true", b"1:5", b"2026-01-01"),
]


def mutated(content: bytes, random_: random.Random, is_table: bool) -> bytes:
    """The content with a few changes; half of those of a table are in what describes it."""
    changed = bytearray(content)
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little") if is_table else 0
    for _ in range(random_.randint(1, 8)):
        first = footer if random_.random() < 0.5 else 0
        at = random_.randrange(first, max(first + 1, len(changed)))
        match random_.randrange(4 if is_table else 8):
            case 0 | 1:
                changed[at : at + 1] = bytes([random_.choice((0, 1, 127, 128, 255))])
            case 2 | 3:
                flipped = changed[at] ^ (1 << random_.randrange(8)) if at < len(changed) else 0
                changed[at : at + 1] = bytes([flipped])
            case 4:
                del changed[at : at + random_.randrange(20)]
            case 5:
                changed[at:at] = changed[at : at + random_.randrange(40)]
            case _:
                changed[at:at] = random_.choice(PIECES)
    return bytes(changed)


def outcome(seed: int, folder: Path) -> str:
    """What reading one mutated file comes to."""
    random_ = random.Random(seed)
    name = random_.choice([*KINDS])
    bases, read = KINDS[name]
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(mutated(random_.choice(bases), random_, ".parquet" in name))
    try:
        read(file)
    except ShortlistError as error:
        text = str(error)
        if not text or not all(
            line.isprintable() and len(line) < 2_000 for line in text.split("\n")
        ):
            return f"odd: {text[:200]!r}"
        return "refused"
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"escaped: {name}: {type(error).__name__}: {error} ({place.name})"[:300]
    return "read"


def address_space() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def outcomes(seeds: range, folder: Path) -> Counter[str]:
    """How often each outcome came; a process that dies is followed by another for the rest."""
    found: Counter[str] = Counter()
    waiting = [*seeds]
    while waiting:
        readable, writable = os.pipe()
        process = os.fork()
        if not process:
            most = address_space() + MEMORY
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
            with os.fdopen(writable, "w") as results:
                for seed in waiting:
                    signal.alarm(PATIENCE)
                    results.write(json.dumps(outcome(seed, folder)) + "\n")
                    results.flush()
            os._exit(0)
        os.close(writable)
        with os.fdopen(readable) as results:
            ended = [json.loads(line) for line in results if line.endswith("\n")]
        _, status = os.waitpid(process, 0)
        found.update(ended)
        if os.WIFSIGNALED(status) or len(ended) < len(waiting):
            found[f"died: seed {waiting[len(ended)]}: status {status}"] += 1
            ended.append("died")
        waiting = waiting[len(ended) :]
    return found


def check(found: Counter[str], count: int) -> None:
    bad = {text: times for text, times in found.items() if text not in ("read", "refused")}
    assert not bad
    assert found["read"] + found["refused"] == count
    assert min(found["read"], found["refused"]) > count // 20  # both sides are tried


def test_mutated_files(tmp_path):
    check(outcomes(range(400), tmp_path), 400)


@pytest.mark.soak
def test_many_mutated_files(tmp_path):
    check(outcomes(range(1_000, 21_000), tmp_path), 20_000)
