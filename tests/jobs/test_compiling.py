"""Registries that tasks read, check and compile: what the one reader says, whatever the cut."""

import json
from random import Random
from threading import Barrier, Thread

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shortlist.engine.admission import Admission
from shortlist.engine.shard import Shard
from shortlist.intake import cutting
from shortlist.intake.files import read_registry, registry_from_documents
from shortlist.intake.roster import Roster
from shortlist.jobs.compiling import compile_registry, join
from shortlist.live import compiled as live_compiled
from shortlist.live.compiled import ADMISSION
from shortlist.live.here import run_here
from shortlist.live.poison import TaskFailed
from shortlist.live.registry_folder import (
    CompiledRegistry,
    NotCompiled,
    folder_beside,
    shard_name,
)
from shortlist.live.shard import SHARDS
from shortlist.live.slots import cut_registry
from shortlist.matching.index.storage import FILE, VERSION, UnusableIndex
from shortlist.model.problem import InvalidRegistry
from shortlist.model.settings import Limits, Settings
from tests.engine.test_compiled import delivered
from tests.engine.test_plain_copy import drawn, taken_in
from tests.live.deployments import Deployment, expected, numbered
from tests.strategies import registry, seeded, seeds, timeline


@pytest.fixture(autouse=True, params=[1, 3, 1_000])
def cut(request, monkeypatch):
    """How many subscriptions a part and a piece have; of lines, how many bytes."""
    monkeypatch.setattr(cutting, "LEAST_ROWS", request.param)
    monkeypatch.setattr(cutting, "MOST_ROWS", request.param)
    monkeypatch.setattr(cutting, "LEAST_BYTES", 100 * request.param)
    monkeypatch.setattr(cutting, "MOST_BYTES", 100 * request.param)
    for kind in (cutting.Lines, cutting.Rows, cutting.Listed):
        chunks = kind.chunks
        smaller = lambda part, chunks=chunks: chunks(part, request.param)  # noqa: E731
        monkeypatch.setattr(kind, "chunks", smaller)
    return request.param


def as_lines(folder, document):
    folder.mkdir()
    (folder / "vocabulary.json").write_text(json.dumps(document.get("vocabulary", {})))
    for kind in ("shortlists", "subscriptions", "advertisements"):
        lines = "".join(f"{json.dumps(each)}\n\n" for each in document.get(kind, ()))
        (folder / f"{kind}.jsonl").write_text(lines)
    return folder


def as_file(folder, document):
    file = folder.with_suffix(".json")
    file.write_text(json.dumps(document))
    return file


def as_table(folder, document, rows=None):
    """Objects and lists as JSON, as a table has them; subscriptions only."""
    folder.mkdir()
    (folder / "vocabulary.json").write_text(json.dumps(document.get("vocabulary", {})))
    lines = "".join(f"{json.dumps(each)}\n" for each in document.get("shortlists", ()))
    (folder / "shortlists.jsonl").write_text(lines)
    given = document.get("subscriptions", ())
    names = [*dict.fromkeys(name for each in given for name in each)]
    columns = {name: [_cell(each.get(name)) for each in given] for name in names}
    table = pa.table(columns) if columns else pa.table({"id": pa.array([], pa.string())})
    pq.write_table(table, folder / "subscriptions.parquet", row_group_size=rows or 2)
    return folder


def _cell(value):
    return json.dumps(value) if isinstance(value, dict | list) else value


def problems(read, path):
    with pytest.raises(InvalidRegistry) as invalid:
        read(path)
    return [str(each) for each in invalid.value.problems]


def same_problems(path):
    found = problems(compile_registry, path)
    assert found == problems(read_registry, path)
    assert not [*folder_beside(path).glob("*")]
    return found


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("write", [as_lines, as_file])
def test_shards_and_admissions_do_what_those_do_that_were_made(tmp_path, write, shards):
    for seed in seeds(4):
        _, _, settings, batches = drawn(seed)
        document = registry(seeded(seed))
        made = registry_from_documents(document)
        path = write(tmp_path / f"{seed}", document)
        compiled = compile_registry(path, settings.limits, shards=shards)
        assert compiled.subscriptions == len(made.subscriptions)
        plain, opened = Admission(made, settings), compiled.admission(settings)
        assert opened.roster.registry() == plain.roster.registry()
        assert opened.wanted == plain.wanted
        pairs = [
            (compiled.shard(number), Shard(part, settings.limits))
            for number, part in enumerate(cut_registry(made, shards))
        ]
        for one, other in pairs:
            assert one.matching.roster.registry() == other.matching.roster.registry()
        if shards == 1:
            ((one, other),) = pairs
            for batch in [*batches, []]:
                found = taken_in(plain, batch, last=batch == [])
                assert delivered(one, found) == delivered(other, found), seed


def test_tables(tmp_path):
    given = [
        {
            "id": f"s{number}",
            "where": f"rent < {number % 7}",
            "score": ["-rent", None, "0.5"][number % 3],
            "policy": [{"kind": "top-k", "k": 1 + number % 2}, None][number % 5 == 0],
            "subscriber": None if number % 4 else f"somebody {number}",
        }
        for number in range(40)
    ]
    for number, rows in enumerate((1, 3, 100)):
        path = as_table(tmp_path / f"{number}", {"subscriptions": given}, rows)
        assert compile_registry(path).shard().matching.roster.registry() == read_registry(path)


def test_a_folder_of_tables(tmp_path):
    folder = tmp_path / "registry"
    (folder / "subscriptions.parquet").mkdir(parents=True)
    policy = pa.struct({"kind": pa.string(), "k": pa.int64()})
    for number in range(3):
        ids = [f"s{number}.{row}" for row in range(5)]
        policies = pa.array([{"kind": "top-k", "k": row // 2 + 1} for row in range(5)], policy)
        profiles = pa.array([[("a", 1.5)]] * 5, pa.map_(pa.string(), pa.float64()))
        table = pa.table({"id": ids, "policy": policies, "profile": profiles})
        pq.write_table(table, folder / "subscriptions.parquet" / f"part-{number}.parquet")
    (folder / "subscriptions.parquet" / "_SUCCESS").write_text("")
    made = read_registry(folder)
    assert compile_registry(folder).shard().matching.roster.registry() == made


GOOD = [
    {"id": "a", "where": "rent < 5"},
    {"id": "b", "where": "rent < 6", "score": "rent"},
    {"id": "c", "shortlist": "l"},
    {"id": "d", "policy": {"kind": "top-k", "k": 2}},
    {"id": "e", "shortlist": "d", "where": "city = 'Oslo'"},
]
BAD = [
    {"id": "a"},
    {"id": "l"},
    {"id": "f", "shortlist": "nobody"},
    {"id": "g", "shortlist": "l", "policy": {"kind": "everything"}},
    {"id": "h", "where": "rent <"},
    {"id": "i", "where": "rent is cheap"},
    {"id": "j", "where": "rent < 7", "score": "distance("},
    {"id": "k", "score": 7},
    {"id": "m", "weight": 0, "colour": "red"},
    {"id": "n", "where": "x < 1 and y < 2", "norm": {"weights": [1]}},
    {"id": "o", "policy": {"kind": "top-k", "k": 0}},
    {"id": "p", "profile": {"a": {"b": {"c": {"d": 1}}}}},
    {"id": "q", "where": "rent < 1e999"},
    {"id": "r", "where": "rént5 < 4 and é < 5"},
    {"id": "s", "shortlist": "f", "subscriber": "x"},
    {"id": "t", "where": "rent < 5", "norm": "most"},
]
ODD = [{"id": 5}, {"id": ""}, {}, {"id": ["x"], "shortlist": "l"}, {"id": "u", "score": True}]
NOT_OBJECTS = [7, None, ["id"], "id"]
SHORTLISTS = [{"id": "l", "subscriber": "x"}]


def worse(draw, some):
    given = [*GOOD, *draw.sample(some, draw.randrange(1, len(some)))]
    draw.shuffle(given)
    return given


@pytest.mark.parametrize("write", [as_lines, as_file])
def test_every_problem_is_named_as_the_one_reader_names_it(tmp_path, write):
    for seed in range(12):
        given = worse(Random(seed), [*BAD, *ODD, *NOT_OBJECTS])
        document = {
            "shortlists": [*SHORTLISTS, *[{"id": "l"}][: seed % 2]],
            "subscriptions": given,
            "advertisements": [{"id": "ad", "source": 5}][: seed % 3],
        }
        same_problems(write(tmp_path / f"{seed}", document))


def test_every_problem_of_a_table(tmp_path):
    for seed in range(12):
        bad = [each for each in BAD if each["id"] != "k"]
        given = worse(Random(seed), [*bad, {"id": ""}, {"where": "rent < 5"}])
        same_problems(as_table(tmp_path / f"{seed}", {"subscriptions": given}))


def test_lines_that_are_no_json(tmp_path):
    path = as_lines(tmp_path / "r", {"subscriptions": GOOD, "shortlists": SHORTLISTS})
    with (path / "subscriptions.jsonl").open("ab") as lines:
        lines.write(b'{"id": "x", "id": "y"}\n\n{"id": NaN}\n\xff\n{"id": "a"}\r{"id": "z"}\n')
        lines.write(b'{"id": "w", "colour": 1}')
    found = same_problems(path)
    assert len(found) == 5


def test_a_damaged_table(tmp_path, cut):
    path = as_table(tmp_path / "r", {"subscriptions": GOOD, "shortlists": SHORTLISTS})
    file = path / "subscriptions.parquet"
    whole = file.read_bytes()
    for spoiled in (b"", whole[:40], whole[:20] + bytes(30) + whole[50:]):
        file.write_bytes(spoiled)
        same_problems(path)


def test_unreadable_vocabularies_blame_nobody_else(tmp_path):
    path = as_lines(tmp_path / "r", {"subscriptions": [*GOOD, BAD[5]], "shortlists": SHORTLISTS})
    (path / "vocabulary.json").write_text("{")
    same_problems(path)


def test_unknown_files_and_missing_ones(tmp_path):
    path = as_lines(tmp_path / "r", {"subscriptions": GOOD, "shortlists": SHORTLISTS})
    (path / "more.txt").write_text("")
    same_problems(path)
    same_problems(tmp_path / "nowhere")


def compiled_one(tmp_path):
    path = as_lines(tmp_path / "r", {"subscriptions": GOOD, "shortlists": SHORTLISTS})
    return path, compile_registry(path)


def test_what_lies_beside_is_opened_as_long_as_nothing_changes(tmp_path):
    path, made = compiled_one(tmp_path)
    assert CompiledRegistry.beside(path) == made
    assert [*folder_beside(path).glob(".*")] == []
    # what was compiled was accepted: only degrees change what comes of it
    assert CompiledRegistry.beside(path, Limits(predicates=1)).keys == made.keys
    with pytest.raises(NotCompiled, match="other degrees"):
        CompiledRegistry.beside(path, Limits(degree_bits=3))
    with (path / "subscriptions.jsonl").open("a") as lines:
        lines.write('{"id": "new"}\n')
    with pytest.raises(NotCompiled, match="other files"):
        CompiledRegistry.beside(path)
    again = compile_registry(path)
    assert again.subscriptions == made.subscriptions + 1
    about = folder_beside(path) / "about.json"
    about.write_text(about.read_text().replace(f'"{VERSION}"', '"5.0"'))
    with pytest.raises(NotCompiled, match=f"is of version 5.0, not {VERSION}; `shortlist compile`"):
        CompiledRegistry.beside(path)
    assert not made.folder.exists()


def test_a_registry_of_nothing(tmp_path):
    path = as_lines(tmp_path / "r", {})
    compiled = compile_registry(path, shards=2)
    assert compiled.admission(Settings()).roster.registry() == Roster().registry()
    assert compiled.shard(1).matching.roster.registry() == Roster().registry()


def test_two_at_once_do_no_harm(tmp_path):
    path = as_lines(tmp_path / "r", {"subscriptions": GOOD, "shortlists": SHORTLISTS})
    together, found = Barrier(2), []

    def run(task, works):
        done = run_here(task, works)
        together.wait()
        return done

    some = [Thread(target=lambda: found.append(compile_registry(path, run=run))) for _ in range(2)]
    for each in some:
        each.start()
    for each in some:
        each.join()
    assert len(found) == 2
    for each in (*found, CompiledRegistry.beside(path)):
        assert each.shard().matching.roster.registry() == Roster.of(read_registry(path)).registry()
    assert len([*folder_beside(path).iterdir()]) == 2


@pytest.mark.parametrize("name", [ADMISSION, shard_name(0)])
def test_a_damaged_one_is_refused(tmp_path, name):
    path, made = compiled_one(tmp_path)
    file = made.folder / name / FILE
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 1
    file.write_bytes(content)
    with pytest.raises(UnusableIndex, match="is damaged"):
        made.parts(name)
    assert compile_registry(path).parts(name)


def test_a_task_that_fails_leaves_what_was_there(tmp_path):
    path, made = compiled_one(tmp_path)

    def run(task, works):
        if task is join:
            raise TaskFailed("a full disk")
        return run_here(task, works)

    with pytest.raises(TaskFailed):
        compile_registry(path, run=run)
    assert CompiledRegistry.beside(path) == made
    assert [*folder_beside(path).glob(".*")] == []


@pytest.mark.parametrize("shards", [1, 2])
def test_a_deployment_begins_with_what_is_compiled(tmp_path, shards, monkeypatch):
    """Nobody compiles anything, and it delivers what one engine does."""
    monkeypatch.setattr(live_compiled, "LEAST_BYTES", 0)
    monkeypatch.setattr(live_compiled, "joining", None)
    for seed in range(4):
        document, lines = registry(seeded(seed)), timeline(seeded(seed), 40)
        path = as_lines(tmp_path / f"{seed}", document)
        compiled, settings = compile_registry(path, shards=shards), Settings(lateness=0)
        SHARDS._kept.clear()
        deployment = Deployment(compiled, settings, shards)
        deployment.run(numbered(lines), last=True)
        made = registry_from_documents(document)
        deliveries, refusals = expected(made, lines, settings)
        assert deployment.outlet.deliveries == deliveries
        assert sorted(deployment.outlet.refusals) == refusals
        assert compiled.registry() == Roster.of(made).registry()
