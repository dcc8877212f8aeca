"""Rows that matter until time has passed them, in files that are never rewritten for that.

A batch adds a file; one whose last row has been passed is dropped; when there are many of a size,
they become one of the next size, without what was passed. So each row is written a few times at
most, and never because others stay.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from shortlist.live.files import Files
from shortlist.live.manifest import Segment
from shortlist.live.tables import joined, of_bytes, to_bytes

FAN = 16
"""Files of one size that become one of the next."""


@dataclass(frozen=True, slots=True)
class Segments:
    """The files of one kind of rows, which have a column `time`."""

    files: Files
    kind: str
    schema: pa.Schema

    def extended(
        self, segments: Sequence[Segment], rows: pa.Table, passed: int | None
    ) -> tuple[Segment, ...]:
        """The same with more rows, less what lies before an instant."""
        kept = [one for one in segments if passed is None or one.last >= passed]
        if rows.num_rows:
            kept.append(self._written(rows, tier=0))
        tier = 0
        while len(same := [one for one in kept if one.tier == tier]) >= FAN:
            together = self._since(self.rows(same), passed)
            kept = [one for one in kept if one.tier != tier]
            if together.num_rows:
                # the larger ones are older: rows stay in their order
                larger = sum(one.tier > tier for one in kept)
                kept.insert(larger, self._written(together, tier + 1))
            tier += 1
        return tuple(kept)

    def rows(self, segments: Sequence[Segment], passed: int | None = None) -> pa.Table:
        """All rows, in the order in which they came, without those before an instant."""
        tables = (of_bytes(self.files.read(one.file.name)) for one in segments)
        return self._since(joined(tables, self.schema), passed)

    def _since(self, table: pa.Table, passed: int | None) -> pa.Table:
        if passed is None or not table.num_rows:
            return table
        # an expression would wake the threads of Arrow, for a few rows
        return table.filter(pc.greater_equal(table.column("time"), passed))

    def _written(self, rows: pa.Table, tier: int) -> Segment:
        content = to_bytes(rows)
        file = self.files.store(self.kind, content)
        return Segment(file=file, last=pc.max(rows.column("time")).as_py(), tier=tier)
