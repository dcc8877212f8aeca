"""Savepoints with other numbers in the tables of policies: none does harm once it is accepted."""

import subprocess
import sys
from collections import Counter

import pytest

from shortlist.live.savepoint import UnusableSavepoint, read_savepoint
from shortlist.selection.bank.banks import BANKS
from tests.live.mutated_tables import with_tables, with_value, write_whole


@pytest.fixture(scope="module")
def whole_savepoint(tmp_path_factory):
    target = tmp_path_factory.mktemp("savepoint") / "savepoint.zip"
    write_whole(target)
    return target


def test_there_is_something_in_every_table_of_every_kind(whole_savepoint):
    held = Counter()

    def count(tables):
        for title, table in tables.items():
            held[title.partition(" ")[2]] += table.num_rows
        return tables

    with_tables(whole_savepoint.read_bytes(), count)
    empty = {kind for kind in BANKS if not held[f"{kind} 0 rows"]}
    assert empty == {"cap"}  # whose rows have no fields
    assert all(held[f"novelty {number} rows"] for number in range(6))
    assert read_savepoint(whole_savepoint)


@pytest.mark.parametrize(
    ("title", "field", "value"),
    [
        ("0 novelty 5 heads", "front", 2**31 - 1),
        ("0 novelty 5 heads", "back", 2**31 - 1),
        ("0 novelty 4 heads", "length", 2**31 - 1),
        ("0 novelty 5 rows", "gap", 2**31 - 1),
        ("0 novelty 1 rows", "first", 2**40),
        ("0 novelty 3 rows", "slot", 2**20),
        ("0 novelty 3 rows", "cell", -1),
        ("0 novelty 1 heads", "matching", 100),
        ("0 window 0 heads", "allowed", 0.5),
        ("0 window 0 heads", "length", -1),
        ("0 window 0 rows", "publication", 2**40),
        ("0 counted window 0 heads", "next_push", -(2**40)),
        ("0 diverse 0 heads", "chosen", 2**20),
        ("0 diverse 0 heads", "ranked", -1),
        ("0 diverse 0 heads", "next_due", 0),
        ("0 top-k 0 heads", "k", 2**31 - 1),
        ("0 digest 0 heads", "shortlist", "another"),
        ("0 digest 0 rows", "matched", 2**20),
        ("publications", "serial", 2**40),
        ("sets", "number", 2**40),
    ],
)
def test_a_number_that_leads_astray_is_refused(whole_savepoint, tmp_path, title, field, value):
    source = tmp_path / "savepoint.zip"
    source.write_bytes(with_value(whole_savepoint.read_bytes(), title, field, value))
    place = title.removesuffix(" heads").removesuffix(" rows").rstrip("012345 ") or title
    with pytest.raises(UnusableSavepoint, match=rf"found another: '{place}.*{field}") as found:
        read_savepoint(source)
    assert "\n" not in str(found.value)


def check_tables_changed(savepoint, first, last):
    words = [sys.executable, "-m", "tests.live.mutated_tables", savepoint, first, last]
    found = subprocess.run([*map(str, words)], capture_output=True, text=True, check=True)
    itself, *lines = found.stdout.splitlines()
    assert itself == "itself accepted"
    outcomes = Counter(line.rpartition("\t")[2] for line in lines)
    bad = [line for line in lines if not line.endswith(("\taccepted", "\trefused"))]
    assert not bad, bad
    assert len(lines) == last - first
    assert outcomes["refused"] > len(lines) // 3, outcomes
    assert outcomes["accepted"] > len(lines) // 10, outcomes
    return outcomes


def test_some_changed_tables_end_no_process(whole_savepoint):
    check_tables_changed(whole_savepoint, 0, 160)


@pytest.mark.soak
def test_changed_tables_end_no_process(whole_savepoint):
    print(check_tables_changed(whole_savepoint, 1_000, 6_000))
