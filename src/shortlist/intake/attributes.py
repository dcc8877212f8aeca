"""Attributes of publications as columns."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shortlist.model.fields import finite
from shortlist.model.items import VALUE
from shortlist.model.paths import CONTEXT, Path, format_path, value_at

Data = Mapping[str, Any]
NONE = type(None)
PLAIN = {NONE, int, float, str}


def data_column(data: Sequence[Data], is_publication: Sequence[bool]) -> pa.StringArray:
    """What publications have to say, as text."""
    texts = (
        json.dumps(each, ensure_ascii=False) if is_one else None
        for each, is_one in zip(data, is_publication, strict=True)
    )
    return pa.array(texts, pa.string())


def attribute_columns(data: Sequence[Data], paths: Iterable[Path]) -> pa.StructArray:
    """The attributes at paths into data, as items have them.

    >>> attribute_columns([{"a": {"b": True}}], [("a", "b")]).to_pylist()
    [{'a.b': {'number': None, 'text': None, 'other': 'true'}}]
    """
    columns = {format_path(path): _values_at(data, path) for path in sorted(paths, key=format_path)}
    return _attributes(columns, len(data))


def value_columns(values: Mapping[str, Mapping[str, pa.Array]], size: int) -> pa.StructArray:
    """Attributes whose numbers, texts and other values are known; what is not given is null."""
    columns = {}
    for name, given in values.items():
        parts = [given.get(field.name, pa.nulls(size, field.type)) for field in VALUE]
        columns[name] = _values(*parts)
    return _attributes(columns, size)


def _attributes(columns: Mapping[str, pa.StructArray], size: int) -> pa.StructArray:
    if not columns:
        return pa.array([{}] * size, pa.struct([]))
    return pa.StructArray.from_arrays([*columns.values()], names=[*columns])


def _values_at(data: Sequence[Data], path: Path) -> pa.StructArray:
    if path in CONTEXT:
        return value_column([None] * len(data))
    if len(path) == 1:
        key = path[0]
        return value_column([each.get(key) for each in data])
    return value_column([value_at(each, path) for each in data])


def value_column(found: Sequence[Any]) -> pa.StructArray:
    """JSON values as one attribute.

    >>> value_column([1, "a", [1, 2]]).to_pylist()[2]
    {'number': None, 'text': None, 'other': '[1, 2]'}
    """
    kinds = set(map(type, found))
    nothing = pa.nulls(len(found), pa.string())
    if kinds <= {int, float, NONE}:
        try:
            numbers = np.array(found, np.float64)
            return _values(pa.array(numbers, mask=~np.isfinite(numbers)), nothing, nothing)
        except OverflowError:
            pass  # an integer beyond all doubles is absent
    elif kinds <= {str, NONE}:
        return _values(pa.nulls(len(found), pa.float64()), pa.array(found, pa.string()), nothing)
    others = [
        None if type(value) in PLAIN else json.dumps(value, ensure_ascii=False) for value in found
    ]
    return _values(
        pa.array([finite(value) for value in found], pa.float64()),
        pa.array([value if type(value) is str else None for value in found], pa.string()),
        pa.array(others, pa.string()),
    )


def _values(numbers: pa.Array, texts: pa.Array, others: pa.Array) -> pa.StructArray:
    return pa.StructArray.from_arrays([numbers, texts, others], fields=[*VALUE])
