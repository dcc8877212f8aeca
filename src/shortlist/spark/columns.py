"""Check the columns of a user's DataFrames: their types are known before anything runs.

Without this, every row of a frame with a column of another type would be rejected, one by one, and
`rank`, which returns deliveries alone, would return an empty frame.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import types as T  # noqa: N812

from shortlist.intake.documents import NOUNS
from shortlist.intake.files import KINDS
from shortlist.intake.input_files import NoInput

INTEGERS = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
FRACTIONS = (T.DecimalType, T.FloatType, T.DoubleType)
OBJECTS = (T.StructType, T.MapType, T.StringType)


@dataclass(frozen=True, slots=True)
class ColumnType:
    """Types that a column may have, their name in messages, and the type to cast others to."""

    types: tuple[type[T.DataType], ...]
    name: str
    cast: str = ""

    def problem(self, column: T.StructField) -> str | None:
        """Return what is wrong with a column; it may be of no type where nothing is required."""
        if isinstance(column.dataType, (*self.types, T.NullType)):
            return None
        found = column.dataType.simpleString()
        hint = self._hint(column)
        advice = f"; try {hint}" if hint else ""
        return f"{column.name}: expected {self.name}, found {found}{advice}"

    def _hint(self, column: T.StructField) -> str:
        name, kind = column.name, column.dataType
        if isinstance(kind, T.VariantType) and T.StructType in self.types:
            return f"to_json({name})"
        if T.TimestampType not in self.types or isinstance(kind, T.DateType):
            castable = isinstance(kind, T.AtomicType) and not isinstance(kind, T.VariantType)
            return f"cast({name} as {self.cast})" if self.cast and castable else ""
        if isinstance(kind, INTEGERS):
            units = (f"timestamp_{unit}({name})" for unit in ("seconds", "millis", "micros"))
            return " or ".join(units) + ", by its unit"
        return f"timestamp_seconds({name})" if isinstance(kind, FRACTIONS) else ""


TEXT = ColumnType((T.StringType,), "string", "string")
TIME = ColumnType(
    (T.TimestampType, T.TimestampNTZType, T.StringType),
    "timestamp, timestamp_ntz (taken for UTC) or string (RFC 3339)",
    "timestamp",
)
WHOLE = ColumnType(INTEGERS, "an integer type", "int")
POSITION = ColumnType(INTEGERS, "an integer type", "bigint")
COUNT = ColumnType((*INTEGERS, T.DecimalType), "an integer type", "int")
NUMBER = ColumnType((*INTEGERS, *FRACTIONS), "a number type", "double")
SCORE = ColumnType((T.StringType, *NUMBER.types), "string or a number type", "string")
OBJECT = ColumnType(OBJECTS, "struct, map or string (JSON)")
POLICY = ColumnType((*OBJECTS, T.ArrayType), "struct, array, map or string (JSON)")
PAIRS = ColumnType((T.ArrayType, T.StringType), "array or string (JSON)")

PUBLICATION = {
    "id": TEXT,
    "source": TEXT,
    "time": TIME,
    "expirytime": TIME,
    "type": TEXT,
    "specversion": ColumnType((T.StringType, *FRACTIONS), "string", "string"),
    "audience": WHOLE,
    "replaces": TEXT,
    "data": OBJECT,
    "position": POSITION,
}
REQUIRED = ("id", "source", "time")
ENTRY = {
    "k": COUNT,
    "weight": NUMBER,
    "score": SCORE,
    "policy": POLICY,
    "norm": OBJECT,
    "at_least": OBJECT,
    "profile": OBJECT,
    "prefers": PAIRS,
}
"""Columns of registry frames that are not text."""


def check_publications(
    frame: DataFrame, *, is_timed: bool = True, arrival: str | None = None
) -> None:
    """Raise `NoInput` with all that is wrong with the columns of publications.

    Unless they are `is_timed`, publications need no time, and it may be anything. The column
    `arrival` says when rows arrived and is none of a publication.
    """
    columns = [column for column in frame.schema.fields if column.name != arrival]
    expected = PUBLICATION if is_timed else {**PUBLICATION, "time": None}
    required = REQUIRED if is_timed else REQUIRED[:2]
    problems = [*_problems(columns, expected, required, " of publications")]
    if problems:
        raise NoInput("\n".join(problems))


def check_registry_frames(registry: Mapping[str, Any]) -> None:
    """Raise `NoInput` with all that is wrong with the columns of a registry's DataFrames."""
    problems = []
    for key, frame in registry.items():
        if isinstance(frame, DataFrame) and key in KINDS:
            noun = fields(NOUNS[KINDS[key]])
            required = [
                each.name
                for each in noun
                if each.default is MISSING and each.default_factory is MISSING
            ]
            expected = {each.name: ENTRY.get(each.name, TEXT) for each in noun}
            found = _problems(frame.schema.fields, expected, required)
            problems += [f"{key}: {problem}" for problem in found]
    if problems:
        raise NoInput("\n".join(problems))


def _problems(
    columns: list[T.StructField],
    expected: Mapping[str, ColumnType | None],
    required: Sequence[str],
    of: str = "",
) -> Iterator[str]:
    counts = Counter(column.name for column in columns)
    for name in required:
        if name not in counts:
            yield f"expected a column {name}{of}, found {', '.join(counts) or 'none'}"
    for name, count in counts.items():
        if count > 1:
            yield f"expected one column {name}{of}, found {count}"
    for column in columns:
        known = expected.get(column.name)
        if known is None:
            continue
        if column.name in required and isinstance(column.dataType, T.NullType):
            yield f"{column.name}: expected {known.name}, found void, which has no values"
        elif problem := known.problem(column):
            yield problem
