"""Registries in files: the same registry from every form, and lines instead of a traceback."""

import json
from decimal import Decimal

import pyarrow as pa
import pytest
import yaml
from pyarrow import parquet

from shortlist.intake.files import (
    RegistryBuilder,
    read_registry,
    registry_from_documents,
)
from shortlist.intake.roster import summary
from shortlist.intake.tables import row_document
from shortlist.intake.written import registry_document
from shortlist.model.aspects import Aspect
from shortlist.model.durations import Span
from shortlist.model.policy import Chain, Diverse, Fresh, Novelty
from shortlist.model.problem import InvalidRegistry

KEYS = "vocabulary, shortlists, subscriptions, advertisements"

FRESH = {"kind": "fresh", "k": 3, "window": "7d", "half_life": "6h"}
DIVERSE = {
    "kind": "diverse",
    "k": 5,
    "window": 100,
    "over": {"rent": 500, 'address."zip code"': None},
    "weight": 0.25,
}
REGISTRY = {
    "vocabulary": {
        "rent": {
            "type": "number",
            "terms": {
                "cheap": {"trapezoid": [None, None, 1200, 1500]},
                "dear": {"trapezoid": [2000, 3000, None, None], "shape": "smooth", "left": "gauss"},
            },
        },
        "mood": {"type": "string", "terms": {"bright": {"values": {"happy": 1, "calm": 0.4}}}},
        "genre": {"type": "string", "many": True},
        "title": {"idf": {"burton": 2.5}},
        "released": {"type": "time"},
        'address."zip code"': {"type": "string"},
    },
    "shortlists": [
        {
            "id": "anna",
            "subscriber": "Anna",
            "policy": {"kind": "window", "k": 9, "window": "40m", "error": 0.001},
            "combine": "mean",
            "prefers": [["s1", "s2"], ["s2", "s3"]],
        },
        {"id": "bob", "subscriber": "Bob", "policy": {"kind": "window", "k": 1, "window": None}},
        {"id": "carl", "subscriber": "Carl", "policy": {"kind": "window", "k": 1, "window": 1000}},
        {"id": "dora", "subscriber": "Dora"},
        {"id": "emil", "subscriber": "Emil", "policy": [FRESH, {**DIVERSE, "window": None}]},
    ],
    "subscriptions": [
        {
            "id": "s1",
            "shortlist": "anna",
            "where": "rent is cheap and rooms >= 2",
            "norm": {"weights": [2, 1]},
            "weight": 2.5,
            "at_least": {"possibility": 0.5, "score": -3},
            "refresh": "90m",
            "profile": {"age": 40},
        },
        {"id": "s2", "shortlist": "anna", "score": 0.9, "norm": "product"},
        {"id": "s3", "shortlist": "anna", "score": "-distance(rent: 900)"},
        {
            "id": "s4",
            "subscriber": "Eve",
            "combine": "max",
            "policy": {"kind": "top-k", "k": 2, "refresh": "1h", "period": "P1D"},
        },
        {
            "id": "s5",
            "policy": {"kind": "novelty", "rate": 0.2, "period": 1000, "mode": "eager", "seed": 7},
        },
        {"id": "s6", "where": "mood is very bright (possibility >= 0.5)"},
        {"id": "s7", "policy": FRESH},
        {"id": "s8", "policy": DIVERSE},
        {"id": "s9", "policy": [DIVERSE]},
    ],
    "advertisements": [
        {"id": "a1", "source": "ads", "k": 2},
        {"id": "a2", "source": "ads", "where": "rent > 5", "k": 0, "score": "subscription.volume"},
    ],
}
LISTS = ("shortlists", "subscriptions", "advertisements")


def lines(read, *arguments):
    with pytest.raises(InvalidRegistry) as invalid:
        read(*arguments)
    found = str(invalid.value).splitlines()
    assert all(line.isprintable() for line in found)
    return found


def write_folder(folder, registry, form):
    folder.mkdir(exist_ok=True)
    vocabulary = yaml.safe_dump(registry["vocabulary"])
    (folder / "vocabulary.yaml").write_text(vocabulary, encoding="utf-8")
    for kind in LISTS:
        if form == "jsonl":
            text = "\n".join(json.dumps(entry) for entry in registry[kind])
            (folder / f"{kind}.jsonl").write_text(text, encoding="utf-8")
        else:
            columns = {name: None for entry in registry[kind] for name in entry}
            table = pa.Table.from_pylist([columns | form(entry) for entry in registry[kind]])
            parquet.write_table(table, folder / f"{kind}.parquet")
    return folder


def as_json_cells(entry):
    """Every object as JSON text and every score as text, so that a column has one type."""
    cells = {
        name: json.dumps(value) if isinstance(value, dict | list) else value
        for name, value in entry.items()
    }
    return cells | {"score": str(entry["score"])} if "score" in entry else cells


def expected():
    return registry_from_documents(REGISTRY)


def test_one_yaml_file(tmp_path):
    file = tmp_path / "registry.yaml"
    file.write_text(yaml.safe_dump(REGISTRY, allow_unicode=True), encoding="utf-8")
    assert read_registry(file) == expected()
    assert read_registry(str(file)) == expected()


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_one_json_file(tmp_path, mark):
    file = tmp_path / "registry.json"
    file.write_text(mark + json.dumps(REGISTRY, indent=1), encoding="utf-8")
    assert read_registry(file) == expected()


def test_a_folder_of_json_lines(tmp_path):
    assert read_registry(write_folder(tmp_path / "registry", REGISTRY, "jsonl")) == expected()


def test_a_folder_of_parquet_with_json_cells(tmp_path):
    scored = [{**entry} for entry in REGISTRY["subscriptions"]]
    scored[1]["score"] = "0.9"
    folder = write_folder(tmp_path / "registry", REGISTRY, as_json_cells)
    assert read_registry(folder) == registry_from_documents({**REGISTRY, "subscriptions": scored})


def test_a_folder_of_parquet_with_nested_columns(tmp_path):
    nested = {
        "vocabulary": {},
        "shortlists": [
            {"id": "a", "subscriber": "A", "policy": {"kind": "window", "k": 1, "window": None}},
            {"id": "b", "subscriber": "B", "policy": {"kind": "window", "k": 2, "window": "40m"}},
            {
                "id": "c",
                "subscriber": "C",
                "policy": {"kind": "top-k", "k": 3},
                "prefers": [["x", "y"]],
            },
            {"id": "d", "subscriber": "D"},
            {
                "id": "e",
                "subscriber": "E",
                "policy": {"kind": "fresh", "k": 3, "window": None, "half_life": "1h"},
            },
        ],
        "subscriptions": [
            {"id": "x", "shortlist": "c", "weight": 2, "at_least": {"score": 1.5}},
            {"id": "y", "shortlist": "c", "norm": {"weights": [1.0]}, "where": "rent < 5"},
        ],
        "advertisements": [{"id": "a1", "source": "ads", "k": 2}],
    }
    folder = write_folder(tmp_path / "registry", nested, lambda entry: entry)
    assert read_registry(folder) == registry_from_documents(nested)


def test_a_round_trip_through_documents():
    document = registry_document(expected())
    assert registry_from_documents(json.loads(json.dumps(document))) == expected()
    assert registry_document(registry_from_documents(document)) == document


def test_a_summary_counts_chains_as_policies():
    counts = summary(expected())
    assert (counts["policy chain"], counts["policy fresh"], counts["policy diverse"]) == (2, 1, 1)


def test_lists_in_both_forms_add_up(tmp_path):
    (tmp_path / "subscriptions.jsonl").write_text('{"id": "s1"}\r\n\r\n{"id": "s2"}\r\n')
    parquet.write_table(pa.table({"id": ["s3"]}), tmp_path / "subscriptions.parquet")
    assert [made.id for made in read_registry(tmp_path).subscriptions] == ["s1", "s2", "s3"]
    parquet.write_table(pa.table({"id": ["s2"]}), tmp_path / "subscriptions.parquet")
    assert lines(read_registry, tmp_path) == [
        "subscriptions.parquet: subscription 's2': id: expected an id of its own, "
        "found that of a subscription in subscriptions.jsonl:3"
    ]


def test_lists_as_folders_of_parts(tmp_path):
    for name in ("subscriptions.parquet", "shortlists.jsonl"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "_SUCCESS").touch()
    for part in (0, 1):
        table = pa.table({"id": [f"s{part}"]})
        parquet.write_table(table, tmp_path / "subscriptions.parquet" / f"part-{part}.parquet")
        line = json.dumps({"id": f"l{part}", "subscriber": "x"})
        (tmp_path / "shortlists.jsonl" / f"part-{part}.json").write_text(line)
    registry = read_registry(tmp_path)
    assert [made.id for made in registry.subscriptions] == ["s0", "s1"]
    assert [made.id for made in registry.shortlists] == ["l0", "l1"]
    (tmp_path / "shortlists.jsonl" / "part-1.json").write_text("{")
    assert lines(read_registry, tmp_path)[0].startswith(
        "shortlists.jsonl/part-1.json:1: not JSON: "
    )


def test_a_vocabulary_may_stand_under_its_key(tmp_path):
    (tmp_path / "vocabulary.yaml").write_text("vocabulary:\n  rent: {type: number}\n")
    assert read_registry(tmp_path).vocabulary.of(("rent",)).type == "number"
    (tmp_path / "vocabulary.yaml").write_text("vocabulary: {type: string, many: true}\n")
    assert read_registry(tmp_path).vocabulary.of(("vocabulary",)).many


def test_files_that_belong_to_others_are_passed_over(tmp_path):
    for name in (".DS_Store", "_SUCCESS"):
        (tmp_path / name).touch()
    (tmp_path / "vocabulary.yaml").touch()
    (tmp_path / "shortlists.jsonl").touch()
    assert read_registry(tmp_path) == registry_from_documents({})


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        (
            "r.yaml",
            "subscriptions:\n  - id: s\n   where: x",
            "r.yaml: not YAML: line 3, column 4: expected <block end>, but found",
        ),
        (
            "r.yaml",
            "a: b: c",
            "r.yaml: not YAML: line 1, column 5: mapping values are not allowed here",
        ),
        (
            "r.yaml",
            "shortlists: []\nshortlists: []\n",
            "r.yaml: not YAML: line 2, column 1: the key 'shortlists' stands twice in one mapping",
        ),
        (
            "r.yaml",
            "subscriptions: [{id: a, id: b}]",
            "r.yaml: not YAML: line 1, column 25: the key 'id' stands twice in one mapping",
        ),
        (
            "r.yaml",
            "? [a, b]\n: c",
            "r.yaml: not YAML: line 1, column 3: expected a name as key",
        ),
        (
            "r.yaml",
            "a: !!set {x, y}",
            "r.yaml: not YAML: line 1, column 4: !!set has no place in a registry",
        ),
        ("r.yaml", 'a: !!int ""', "r.yaml: not YAML: a value that cannot be read: "),
        ("r.yaml", "a: !!bool maybe", "r.yaml: not YAML: a value that cannot be read: 'maybe'"),
        (
            "r.yaml",
            "a: !!python/object:os.system {}",
            "r.yaml: not YAML: line 1, column 4: could not determine a constructor for the tag",
        ),
        ("r.yaml", "a: *b", "r.yaml: not YAML: line 1, column 4: found undefined alias 'b'"),
        ("r.yaml", "a: &b {c: *b}", "r.yaml: not YAML: line 1, column 4: found unconstructable"),
        (
            "r.yaml",
            "a: 1\n---\nb: 2",
            "r.yaml: not YAML: line 2, column 1: but found another document",
        ),
        ("r.yaml", "[" * 5000, "r.yaml: not YAML: nested too deep"),
        ("r.yaml", "a: \x07", "r.yaml: not YAML: unacceptable character #x0007"),
        (
            "r.yaml",
            "- id: s",
            f"r.yaml: expected a mapping with the keys {KEYS}, found [{{id: 's'}}]",
        ),
        (
            "r.yaml",
            "just text",
            f"r.yaml: expected a mapping with the keys {KEYS}, found 'just text'",
        ),
        ("r.yaml", "", f"r.yaml: expected a mapping with the keys {KEYS}, found nothing"),
        (
            "r.yaml",
            "# nothing\n",
            f"r.yaml: expected a mapping with the keys {KEYS}, found nothing",
        ),
        (
            "r.yaml",
            "rules: []",
            f"r.yaml: rules: is not a key of a registry; expected one of {KEYS}",
        ),
        ("r.yaml", "5: []", f"r.yaml: 5: is not a key of a registry; expected one of {KEYS}"),
        ("r.json", "", f"r.json: expected a mapping with the keys {KEYS}, found nothing"),
        ("r.json", "{", "r.json: not JSON: column 2: Expecting property name"),
        ("r.json", '{\n"vocabulary": }', "r.json: not JSON: line 2, column 15: Expecting value"),
        (
            "r.json",
            '{"shortlists": [], "shortlists": []}',
            "r.json: not JSON: the key 'shortlists' stands twice in one object",
        ),
        ("r.json", "[" * 100_000, "r.json: not JSON: nested too deep"),
        ("r.json", '{"a": NaN}', "r.json: not JSON: NaN is not a number"),
        (
            "r.json",
            f'{{"shortlists": {"9" * 5000}}}',
            "r.json: shortlists: expected a list, found a number of over 4300 digits",
        ),
        ("r.json", r'{"a": "\ud800"}', "r.json: not JSON: half of a surrogate pair"),
        ("r.json", "[]", f"r.json: expected a mapping with the keys {KEYS}, found []"),
        ("r.json", "null", f"r.json: expected a mapping with the keys {KEYS}, found nothing"),
        ("r.yaml", b"\x93\xfa\x00", "r.yaml: not text: byte 1 is not UTF-8"),
        ("r.json", b"{}\xff", "r.json: not text: byte 3 is not UTF-8"),
        ("r.parquet", b"PAR1\x15\x04\x15\x80", "r.parquet: not text: byte 8 is not UTF-8"),
    ],
)
def test_one_file_that_is_no_registry(tmp_path, name, content, line):
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    (found,) = lines(read_registry, file)
    assert found.startswith(line)


def test_yaml_merges_and_times_stay_as_written(tmp_path):
    file = tmp_path / "r.yaml"
    file.write_text(
        "subscriptions:\n"
        "  - &first {id: s1, weight: 2, where: released > '2026-03-01'}\n"
        "  - {<<: *first, id: s2}\n"
        "  - {id: 2026-03-01}\n"
    )
    first, second, third = read_registry(file).subscriptions
    assert (second.weight, second.where, third.id) == (2.0, first.where, "2026-03-01")


def test_a_file_that_is_not_there(tmp_path):
    nowhere = tmp_path / "nowhere.yaml"
    assert lines(read_registry, nowhere) == [f"{nowhere}: No such file or directory"]


def test_a_folder_with_nothing_known(tmp_path):
    (tmp_path / "readme.md").touch()
    found = lines(read_registry, tmp_path)
    assert found == [
        "readme.md: is not part of a registry; expected vocabulary.yaml or shortlists, "
        "subscriptions, advertisements as .jsonl or .parquet",
        f"{tmp_path}: expected vocabulary.yaml, shortlists, subscriptions, advertisements "
        "as .jsonl or .parquet in this folder, found none of them",
    ]


def test_every_problem_of_a_folder_at_once(tmp_path):
    (tmp_path / "vocabulary.yaml").write_text("rent: {type: numbr}\n")
    (tmp_path / "shortlists.jsonl").write_bytes(
        b'{"id": "anna"}\n{"id": "bob", "subscriber": "Bob"}'
    )
    (tmp_path / "subscriptions.jsonl").write_bytes(
        b'\xef\xbb\xbf{"id": "s1", "where": "rent is cheap"}\n'
        b'{"id": "s2"\n'
        b"\n"
        b'{"id": "s3\xff"}\n'
        b'{"id": "s4", "id": "s5"}\n'
        b'{"id": "s6", "shortlist": "anna"}\n'
        b'{"id": "s7", "shortlist": "zoe", "weight": 0}\n'
        b'{"where": "x = 1"}\n'
        b"[]\n"
    )
    (tmp_path / "advertisements.parquet").write_bytes(b"PAR1 but no table")
    found = lines(read_registry, tmp_path)
    assert found[:8] == [
        "vocabulary.yaml: attribute 'rent': type: expected 'number', 'string', 'boolean', 'time' "
        "or 'vector', found 'numbr'",
        "shortlists.jsonl:1: shortlist 'anna': subscriber: is missing",
        "subscriptions.jsonl:2: not JSON: column 12: Expecting ',' delimiter",
        "subscriptions.jsonl:4: not JSON: byte 11 is not UTF-8",
        "subscriptions.jsonl:5: not JSON: the key 'id' stands twice in one object",
        "subscriptions.jsonl:7: subscription 's7': weight: expected a number above 0, found 0",
        "subscriptions.jsonl:8: subscription: id: is missing",
        "subscriptions.jsonl:9: subscription: expected an object, found []",
    ]
    assert found[8].startswith("advertisements.parquet: ")
    assert found[9:] == [
        "subscriptions.jsonl:7: subscription 's7': shortlist: expected the id of a shortlist, "
        "found 'zoe'"
    ]


def test_an_unreadable_part_blames_nobody_else(tmp_path):
    (tmp_path / "vocabulary.yaml").write_text("rent: [")
    (tmp_path / "shortlists.parquet").write_bytes(b"garbage")
    (tmp_path / "subscriptions.jsonl").write_text(
        '{"id": "s1", "shortlist": "anna", "where": "rent is cheap"}'
    )
    vocabulary, shortlists = lines(read_registry, tmp_path)
    assert vocabulary.startswith("vocabulary.yaml: not YAML: line 1, column 8: ")
    assert shortlists.startswith("shortlists.parquet: ")


def test_two_vocabularies(tmp_path):
    (tmp_path / "vocabulary.yaml").touch()
    (tmp_path / "vocabulary.json").write_text("{}")
    assert lines(read_registry, tmp_path) == [
        "vocabulary.json: expected one vocabulary, found vocabulary.yaml too"
    ]


def test_a_broken_cell_of_a_table(tmp_path):
    table = pa.table({"id": ["s1", "s2"], "policy": ['{"kind": "top-k", "k": 0}', '{"kind": ']})
    parquet.write_table(table, tmp_path / "subscriptions.parquet")
    assert lines(read_registry, tmp_path) == [
        "subscriptions.parquet: subscription 's1': policy.k: expected a whole number of at least 1,"
        " found 0",
        "subscriptions.parquet: subscription 's2': policy: expected an object with a kind "
        "(everything, top-k, window, novelty, fresh, diverse, digest, quiet, cap), "
        "or a list of them, found '{\"kind\": ', "
        "which is not JSON: column 9: Expecting value",
    ]


def test_a_table_of_other_types(tmp_path):
    table = pa.table({"id": [b"s1", None], "weight": ["x", "y"]})
    parquet.write_table(table, tmp_path / "subscriptions.parquet")
    assert lines(read_registry, tmp_path) == [
        "subscriptions.parquet: subscription b's1': id: "
        "expected text that is not empty, found b's1'",
        "subscriptions.parquet: subscription b's1': weight: expected a number above 0, found 'x'",
        "subscriptions.parquet: subscription #2: id: is missing",
        "subscriptions.parquet: subscription #2: weight: expected a number above 0, found 'y'",
    ]


def test_rows_of_a_table():
    row = {
        "id": "s",
        "where": None,
        "weight": Decimal("2.5"),
        "norm": "min",
        "profile": [("age", Decimal(40)), ("income", None)],
        "at_least": {"possibility": None, "necessity": None, "score": 1.0},
        "policy": {"kind": "window", "k": 1, "window": None, "rate": None},
    }
    builder = RegistryBuilder()
    builder.extend("subscriptions", [row_document(row)], "a table")
    (made,) = builder.registry().subscriptions
    assert (made.weight, made.profile, made.at_least.score) == (2.5, {"age": 40.0}, 1.0)
    assert (made.policy.kind, made.policy.window) == ("window", None)


def test_a_policy_of_several_in_a_table():
    """Structs have all fields of all of them; the scales of a map may be null."""
    nothing = dict.fromkeys(("half_life", "over", "rate", "period"))
    policies = [
        {**nothing, "kind": "fresh", "k": 2, "window": None, "half_life": "1h"},
        {**nothing, "kind": "diverse", "k": 1, "window": "1d", "over": [("b", None), ("a", 2.5)]},
        {**nothing, "kind": "novelty", "k": None, "window": None, "rate": 0.5, "period": 10},
    ]
    builder = RegistryBuilder()
    builder.extend("subscriptions", [row_document({"id": "s", "policy": policies})], "a table")
    (made,) = builder.registry().subscriptions
    assert made.policy == Chain(
        (
            Fresh(k=2, window=None, half_life=3_600_000_000),
            Diverse(
                k=1,
                window=Span(86_400_000_000),
                over=(Aspect(("a",), 2.5), Aspect(("b",), None)),
            ),
            Novelty(rate=0.5, period=10),
        )
    )


def test_what_only_looks_like_pairs_stays_for_the_field_to_judge():
    assert row_document({"profile": [1, 2]}) == {"profile": [1, 2]}
    assert row_document({"profile": "[1, 2]"}) == {"profile": [1, 2]}
    assert row_document({"profile": '{"a": 1, "a": 2}'}) == {"profile": '{"a": 1, "a": 2}'}
