"""Change values in the tables of savepoints, or bytes, and go on with those that are accepted.

Run as `python -m tests.live.mutated_tables SAVEPOINT FIRST LAST`, it does so in a process of its
own for each seed, which may die, hang or take too much memory, and says of each what became of it.
"""

import json
import os
import resource
import signal
import sys
import tempfile
import traceback
from dataclasses import replace
from itertools import chain
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from shortlist.engine.saved import MAGIC, Saved
from shortlist.intake.files import registry_from_documents
from shortlist.live.driver import Driver
from shortlist.live.files import Files
from shortlist.live.manifest import Chain
from shortlist.live.outlets import LogOutlet
from shortlist.live.savepoint import UnusableSavepoint, export, restore
from shortlist.log.base import INPUT
from shortlist.log.sqlite import SqliteLog
from shortlist.model.settings import Settings
from tests.live import mutated_savepoints
from tests.live.deployments import Deployment, numbered
from tests.live.mutated_savepoints import rebuilt
from tests.strategies import NOVELTY_POLICIES, POLICIES

# Seconds that a process may compute; an honest one takes about 0.1.
MOST_SECONDS = 10
# What a process may allocate beside what it begins with; an honest one takes about 10 MB.
MOST_BYTES = 2**30
SETTINGS = Settings(lateness="9s")
UNREAD = b'{"id": "unread", "source": "x", "time": "2026-01-01T00:01:00Z"}'
MORE = [
    *(
        {
            "id": f"more {number}",
            "source": "x",
            "time": f"2026-01-01T00:02:{number:02d}Z",
            "data": {"price": number * 5 % 13, "size": number},
        }
        for number in range(30)
    ),
    {"time": "2026-01-01T00:02:40Z", "retract": {"source": "x", "publication": "p29"}},
    {"time": "2026-01-01T00:02:41Z", "unsubscribe": {"subscription": "second of 0"}},
]


# Some of many alike: every kind, and each way in which `novelty` remembers, is among them.
POLICIES_HELD = [
    *chain(*(family[::7] for family in POLICIES)),
    *NOVELTY_POLICIES[2:4],
    {"kind": "window", "k": 2, "window": "30s", "error": 0.1},
    {"kind": "window", "k": 2, "window": 20, "error": 0.1},
    {"kind": "window", "k": 1, "window": "1ms", "error": 0.1},
]


def write_whole(target):
    """Export a deployment whose shortlists hold something in every table of every kind of policy,
    with items that wait and that are set aside.

    Its shard writes a snapshot after each batch, where others are too small to be worth one.
    """
    subscriptions = []
    for number, policy in enumerate(POLICIES_HELD):
        second = {"id": f"second of {number}", "shortlist": f"{number}", "score": "size"}
        subscriptions += [{"id": f"{number}", "policy": policy, "score": "price"}, second]
    lines = [
        json.dumps(
            {
                "id": f"p{number}",
                "source": "x",
                "time": f"2026-01-01T00:00:{number:02d}Z",
                "data": {"price": number * 7 % 11, "size": number % 9},
            }
        )
        for number in range(40)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Chain, "is_long", lambda *_: True)
        registry = registry_from_documents({"subscriptions": subscriptions})
        deployment = Deployment(registry, SETTINGS, 1)
        deployment.registers.append(INPUT, [line.encode() for line in lines] + [UNREAD])
        deployment.run(numbered(lines)[:30])
        deployment.run(numbered(lines)[30:])
    export(deployment.registers, deployment.files, target)


def with_tables(savepoint, change):
    """The savepoint with other tables in one state; `change` takes them, and returns others."""

    def changed(members):
        name = next(name for name in members if _has_tables(members[name]))
        _replace(members, name, change)

    return rebuilt(savepoint, changed)


def with_value(savepoint, title, field, value):
    """The savepoint with one value in all places of a table's field."""

    def change(tables):
        table = tables[title]
        place = table.schema.names.index(field)
        column = pa.array([value] * table.num_rows, table.column(place).type)
        return {**tables, title: _with_column(table, place, column)}

    return with_tables(savepoint, change)


def _with_column(table, place, column):
    columns = [*table.columns]
    columns[place] = column
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)


def _replace(members, name, change):
    saved = Saved.of_bytes(members[name])
    content = replace(saved, tables=change(saved.tables)).to_bytes()
    file, size = name.removeprefix("files/"), len(members[name])
    manifest = members["manifest.json"].decode()
    assert f'["{file}",{size}]' in manifest
    manifest = manifest.replace(f'["{file}",{size}]', f'["{file}",{len(content)}]')
    members |= {name: content, "manifest.json": manifest.encode()}


def mutated(random, savepoint):
    """With some values of a table changed; and which field of which table."""
    changed = []

    def change(tables):
        title = random.choice([title for title, table in tables.items() if table.num_rows])
        table = tables[title]
        place = random.randrange(table.num_columns)
        changed.append(f"{title}.{table.schema.names[place]}")
        column = _changed(random, table.column(place))
        if random.random() < 0.2:
            column = _changed(random, column)
        return {**tables, title: _with_column(table, place, column)}

    return with_tables(savepoint, change), changed[0]


def _has_tables(content):
    return content.startswith(MAGIC) and Saved.of_bytes(content).tables


def _changed(random, column):
    """The column with another value in one place."""
    values, place = column.to_pylist(), random.randrange(len(column))
    old, kind = values[place], column.type
    if pa.types.is_integer(kind):
        limits = np.iinfo(kind.to_pandas_dtype())
        near = [(old or 0) + step for step in (-2, -1, 1, 2)]
        far = [
            limits.max,
            limits.min,
            2**31 - 1,
            2**40,
            10**6,
            100,
            -1,
            0,
            1,
            random.choice(values),
        ]
        numbers = near if random.random() < 0.4 else far
        new = random.choice([n for n in numbers if limits.min <= (n or 0) <= limits.max] or [None])
    elif pa.types.is_boolean(kind):
        new = not old
    elif pa.types.is_floating(kind):
        new = random.choice([float("nan"), float("inf"), float("-inf"), -1e308, 0.0, 1e308, None])
    elif pa.types.is_list(kind):
        new = random.choice([None, [], [*(old or ()), *(old or ())], (old or [])[1:], [None]])
    else:
        new = random.choice(["", "unknown", "x" * 100, None, random.choice(values)])
    if new == old:
        return _changed(random, column)
    values[place] = new
    return pa.array(values, kind)


def go_on(place):
    """Restore a savepoint, and run all shards with publications and commands to the end of time."""
    log, files = SqliteLog(place / "city.log"), Files(place / "files")
    restore(place / "savepoint.zip", log, files)
    everywhere = lambda task, works: [task(work) for work in works]  # noqa: E731
    driver = Driver(log, files, SETTINGS, everywhere, LogOutlet(log))
    first = driver.manifest.position + 1
    lines = [json.dumps(item).encode() for item in MORE]
    items, _ = driver.read_task().items([*range(first, first + len(lines))], lines)
    driver.run_batch(items)
    driver.run_batch(driver.read_task().items([], [])[0], last=True)


def outcome(savepoint):
    """What became of a savepoint in a process of its own: in words."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.close(read)
            os.write(write, _tried(savepoint).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read) as said:
        words = said.read()
    _, status = os.waitpid(child, 0)
    return words if status == 0 else f"killed: status {status}"


def _tried(savepoint):
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + MOST_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)  # its signal ends loops in kernels, too
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "savepoint.zip").write_bytes(savepoint)
        try:
            go_on(place)
        except UnusableSavepoint as error:
            said = str(error)
            return "refused" if len(said) < 1_000 and "\n" not in said else f"badly said: {said}"
        except BaseException as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            return f"raised: {type(error).__name__}: {error} ({where.filename}:{where.lineno})"
        return "accepted"


def main(source, first, last):
    savepoint = source.read_bytes()
    print("itself", outcome(savepoint), flush=True)
    go_on_here(savepoint)
    for seed in range(first, last):
        if seed % 2:
            forged, field = mutated_savepoints.mutated(Random(seed), savepoint), "bytes"
        else:
            forged, field = mutated(Random(seed), savepoint)
        print(f"{seed}\t{field}\t{outcome(forged)}".replace("\n", " "), flush=True)


def go_on_here(savepoint):
    """Load all kernels once, so that no child has to."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "savepoint.zip").write_bytes(savepoint)
        go_on(Path(folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
