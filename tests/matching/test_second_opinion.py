"""Crisp conditions against SQL: the same condition, written twice, on the same rows.

Both sides read the text before negation is pushed down, so SQL's three-valued logic judges that
too. What is left out is what SQL has no word for: fuzzy terms, multi-valued attributes and values
of another type.
"""

import csv
import gzip
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.language.parser import parse_where
from shortlist.matching.conditions import condition
from shortlist.matching.values import Values
from shortlist.model.publication import Publication
from shortlist.model.times import parse_time_or_date
from shortlist.model.vocabulary import Attribute, Vocabulary
from tests.strategies import drawn, seeded

MOVIES = Path(__file__).parents[2].parent / "shared" / "data" / "imdb_movies_58788.csv.gz"

VOCABULARY = Vocabulary({("released",): Attribute(type="time")})
POOLS = {
    "price": [0, 1, 2.5, 3, -1, 1e15],
    "size": [0, 1, 2, 3],
    "mood": ["", "a", "ab", "b", "é", "'", "a%", "A", "𝒜", "\ufffd", "%", "_"],
    "title": ["", "b", "ba", "aab"],
    "open": [True, False],
    "released": ["2026-01-01", "2026-01-01T12:00:00Z", "2026-01-01T12:00:00.000001Z"],
    "address.city": ["Oslo", "Rome", "o"],
}
TYPES = {
    "price": "DOUBLE",
    "size": "DOUBLE",
    "mood": "VARCHAR",
    "title": "VARCHAR",
    "open": "BOOLEAN",
    "released": "TIMESTAMP",
    "address.city": "VARCHAR",
}
TEXT_FUNCTIONS = {"contains": "contains", "starts with": "starts_with", "ends with": "ends_with"}


def ours(value):
    """A literal of the subscription language."""
    if isinstance(value, bool):
        return str(value).lower()
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def theirs(path, value):
    """The same literal in SQL."""
    if TYPES[path] == "TIMESTAMP":
        return f"make_timestamp({parse_time_or_date(value)})"
    return f"{ours(value)}::{TYPES[path]}"


def predicate(pick):
    """One predicate twice: in our language and in SQL."""
    path = pick(list(POOLS))
    column, pool = f'"{path}"', POOLS[path]
    kinds = ["exists", "comparison", "in", "between", "text"]
    if TYPES[path] == "BOOLEAN":
        kinds = ["exists", "comparison"]
    elif TYPES[path] != "VARCHAR":
        kinds.remove("text")
    negation = pick(["", "not "])
    match pick(kinds):
        case "exists":
            return f"{path} exists", f"{column} IS NOT NULL"
        case "comparison":
            simple = ["=", "!=", "<>"]
            operator = pick(simple if TYPES[path] == "BOOLEAN" else [*simple, "<", "<=", ">", ">="])
            value = pick(pool)
            return f"{path} {operator} {ours(value)}", f"{column} {operator} {theirs(path, value)}"
        case "in":
            some = [pick(pool) for _ in range(pick([1, 2, 3]))]
            return (
                f"{path} {negation}in ({', '.join(map(ours, some))})",
                f"{column} {negation}IN ({', '.join(theirs(path, value) for value in some)})",
            )
        case "between":
            low, high = pick(pool), pick(pool)
            return (
                f"{path} {negation}between {ours(low)} and {ours(high)}",
                f"{column} {negation}BETWEEN {theirs(path, low)} AND {theirs(path, high)}",
            )
    operator, text = pick(list(TEXT_FUNCTIONS)), pick(pool)
    return (
        f"{path} {negation}{operator} {ours(text)}",
        f"{negation}{TEXT_FUNCTIONS[operator]}({column}, {ours(text)})",
    )


def tree(pick, leaf=predicate, depth=3):
    """A condition of a few levels, twice."""
    kind = pick(["leaf", "leaf", "and", "or", "not"]) if depth else "leaf"
    match kind:
        case "leaf":
            return leaf(pick)
        case "not":
            inner, sql = tree(pick, leaf, depth - 1)
            return f"not ({inner})", f"NOT ({sql})"
    parts = [tree(pick, leaf, depth - 1) for _ in range(pick([2, 3]))]
    return tuple(f" {kind} ".join(f"({part[side]})" for part in parts) for side in (0, 1))


def row(pick):
    """Values by path; absent where SQL has NULL."""
    return {path: pick([None, *pool]) for path, pool in POOLS.items()}


def published(number, values):
    data = {path: value for path, value in values.items() if "." not in path}
    if values.get("address.city") is not None:
        data["address"] = {"city": values["address.city"]}
    return Publication(id=str(number), source="s", time=0, position=number, data=data)


def holds(where, publications, vocabulary=VOCABULARY):
    meets = condition(parse_where(where, vocabulary), vocabulary)
    values = Values(vocabulary)
    return [
        publication.position
        for publication in publications
        if meets(values.of(publication)) == (1.0, 1.0)
    ]


def instant(text):
    micros = parse_time_or_date(text)
    return datetime.fromtimestamp(micros // 1_000_000, UTC).replace(
        microsecond=micros % 1_000_000, tzinfo=None
    )


def table(rows):
    """A DuckDB table `data` of typed rows, numbered."""
    connection = duckdb.connect()
    columns = ", ".join(f'"{path}" {kind}' for path, kind in TYPES.items())
    connection.execute(f"CREATE TABLE data (number INTEGER, {columns})")
    typed = [
        [number]
        + [
            instant(value) if TYPES[path] == "TIMESTAMP" and value is not None else value
            for path, value in values.items()
        ]
        for number, values in enumerate(rows)
    ]
    if typed:
        marks = ", ".join("?" * (1 + len(TYPES)))
        connection.executemany(f"INSERT INTO data VALUES ({marks})", typed)
    return connection


def selected(connection, sql):
    found = connection.execute(f"SELECT number FROM data WHERE {sql} ORDER BY number").fetchall()
    return [number for (number,) in found]


@pytest.fixture(scope="module")
def grid():
    """Rows in which most pairs of values occur, absent ones too."""
    pick = seeded(1)
    rows = [row(pick) for _ in range(400)]
    return table(rows), [published(number, values) for number, values in enumerate(rows)]


def test_hundreds_of_conditions_on_generated_rows(grid):
    connection, publications = grid
    verdicts = set()
    for seed in range(400):
        where, sql = tree(seeded(seed))
        expected = selected(connection, sql)
        assert holds(where, publications) == expected, (where, sql)
        verdicts.add(0 < len(expected) < len(publications))
    assert True in verdicts


@given(st.lists(drawn(row)(), min_size=1, max_size=3), drawn(tree)())
def test_drawn_conditions_on_drawn_rows(rows, pair):
    where, sql = pair
    publications = [published(number, values) for number, values in enumerate(rows)]
    with table(rows) as connection:
        assert holds(where, publications) == selected(connection, sql)


@pytest.mark.parametrize(
    ("one", "other"), list(product(["size = 1", "size = 2", "mood = 'a'"], repeat=2))
)
@pytest.mark.parametrize(
    "frame", ["{} and {}", "{} or {}", "not ({} and {})", "not ({} or not {})"]
)
def test_null_is_neither_held_nor_denied(one, other, frame):
    """Size is 1 and the mood is not known: the truth table of SQL."""
    text = frame.format(one, other)
    values = {**dict.fromkeys(POOLS), "size": 1}
    assert holds(text, [published(0, values)]) == selected(table([values]), text)


# ---- the movie data ----

NUMBERS = {
    "year": [1950, 1980, 1999, 2003],
    "length": [1, 30, 90, 120, 240],
    "rating": [2.5, 5, 6.4, 8],
    "votes": [5, 30, 1000],
    "budget": [0, 100_000, 20_000_000],
    "Drama": [0, 1],
}
TEXTS = {"mpaa": ["R", "PG", "PG-13", ""], "title": ["$", "The", "love", "s", "É"]}


def movie_predicate(pick):
    path = pick([*NUMBERS, *TEXTS])
    negation = pick(["", "not "])
    if path in NUMBERS:
        low, high = pick(NUMBERS[path]), pick(NUMBERS[path])
        operator = pick(["=", "!=", "<", "<=", ">", ">=", "between", "in", "exists"])
        match operator:
            case "between":
                text = f"{path} {negation}between {low} and {high}"
            case "in":
                text = f"{path} {negation}in ({low}, {high})"
            case "exists":
                return f"{path} exists", f"{path} IS NOT NULL"
            case _:
                text = f"{path} {operator} {low}"
        return text, text
    value = ours(pick(TEXTS[path]))
    operator = pick(["=", "<", ">=", *TEXT_FUNCTIONS])
    if operator in TEXT_FUNCTIONS:
        return (
            f"{path} {negation}{operator} {value}",
            f"{negation}{TEXT_FUNCTIONS[operator]}({path}, {value})",
        )
    return f"{path} {operator} {value}", f"{path} {operator} {value}"


def movie_tree(pick):
    return tree(pick, leaf=movie_predicate)


@pytest.fixture(scope="module")
def movies():
    if not MOVIES.exists():
        pytest.skip(f"the movie data are not at {MOVIES}")
    with gzip.open(MOVIES, "rt", encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))[::12]
    data = [
        {
            **{path: float(line[path]) if line[path] else None for path in NUMBERS},
            **{path: line[path] or None for path in TEXTS},
        }
        for line in rows
    ]
    frame = pd.DataFrame(data).astype(dict.fromkeys(NUMBERS, "Float64"))  # NULL, not NaN
    frame.insert(0, "number", range(len(frame)))
    connection = duckdb.connect()
    connection.register("data", frame)
    return connection, [
        Publication(id=str(number), source="imdb", time=0, position=number, data=values)
        for number, values in enumerate(data)
    ]


def test_conditions_on_the_movie_data(movies):
    connection, publications = movies
    selective = 0
    for seed in range(120):
        where, sql = movie_tree(seeded(seed))
        expected = selected(connection, sql)
        assert holds(where, publications, Vocabulary()) == expected, (where, sql)
        selective += 0 < len(expected) < len(publications)
    assert selective > 60
