"""Conditions as columns: those of one shape together, with what fills it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shortlist.language.reader import text_of
from shortlist.matching.arrays import Bools, Bytes, Floats, Ints, Longs
from shortlist.matching.index.columns import LiteralColumn
from shortlist.matching.index.texts import Texts
from shortlist.matching.kernels.parting import STRING, part_texts


@dataclass(frozen=True, slots=True)
class PartedTexts:
    """Many texts as `parted` has each: shapes, which many share, and their literals.

    >>> texts = PartedTexts.of(Texts.plain(["rent < 900", "city = 'Oslo'", "rent < 7e2"]))
    >>> texts.shapes, texts.shape_of.tolist()
    (['rent <  1 ', "city =  '' "], [0, 1, 0])
    >>> texts.columns(np.array([0, 2])), texts.columns(np.array([1]))
    ([array([900., 700.])], [['Oslo']])
    """

    shapes: list[str]
    shape_of: Ints
    """-1 where a text has to be looked at on its own."""
    _texts: Texts
    _offsets: Longs
    _kinds: Bytes
    _starts: Longs
    _stops: Longs
    _values: Floats

    @classmethod
    def of(cls, texts: Texts) -> "PartedTexts":
        shapes, places, offsets, kinds, starts, stops, values, is_odd = part_texts(
            texts.data, texts.offsets
        )
        for literal in np.flatnonzero(np.isnan(values)).tolist():
            values[literal] = float(texts.data[starts[literal] : stops[literal]].tobytes())
        has_infinite = np.add.reduceat(np.isinf(np.append(values, 0.0)), offsets[:-1])
        is_odd |= (has_infinite > 0) & (np.diff(offsets) > 0)
        found = Texts(shapes, places).arrow().dictionary_encode()
        shape_of = found.indices.to_numpy().astype(np.int32)
        shape_of[is_odd] = -1
        return cls(
            found.dictionary.to_pylist(), shape_of, texts, offsets, kinds, starts, stops, values
        )

    def is_longer(self, most: int) -> Bools:
        """Which texts have more characters, or perhaps have."""
        return np.diff(self._texts.offsets) > most

    def columns(self, some: Ints) -> list[LiteralColumn]:
        """The literals of some texts of one shape: numbers, or strings."""
        first = self._offsets[some[0]]
        kinds = self._kinds[first : self._offsets[some[0] + 1]]
        every = self._offsets[some]
        return [
            self._strings(every + place) if kind == STRING else self._values[every + place]
            for place, kind in enumerate(kinds.tolist())
        ]

    def _strings(self, literals: Longs) -> Sequence[str]:
        whole = self._texts.data
        spans = zip(self._starts[literals].tolist(), self._stops[literals].tolist(), strict=True)
        return [text_of(whole[start:stop].tobytes().decode()) for start, stop in spans]


def texts_of(some: Sequence[str]) -> Texts:
    """Texts of whole characters, for kernels: these are compiled for arrays that can be written."""
    texts = Texts.of_arrow(pa.array(some, pa.large_string()))
    return Texts(texts.data.copy(), texts.offsets.copy())
