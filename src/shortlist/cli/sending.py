"""Sending lines to the input of a log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from shortlist.cli.app import fail, notes
from shortlist.cli.incoming import Line
from shortlist.log.base import INPUT, Log, LogUnavailable


@dataclass(slots=True)
class Receipt:
    """What a log has acknowledged.

    >>> receipt = Receipt([range(6, 8)])
    >>> print(receipt.text())
    2 acknowledged; offsets 6 to 7
    >>> receipt.runs.append(range(9, 10))
    >>> print(receipt.text(", 5 rejected"))
    3 acknowledged, 5 rejected; offsets 6 to 9, with others' between them
    """

    runs: list[range] = field(default_factory=list)
    """The offsets of each chunk."""

    @property
    def count(self) -> int:
        return sum(map(len, self.runs))

    @property
    def ends(self) -> tuple[int, int] | None:
        """The first offset and the last."""
        return (self.runs[0][0], self.runs[-1][-1]) if self.runs else None

    def document(self) -> dict[str, object]:
        first, last = self.ends or (None, None)
        return {"acknowledged": self.count, "first": first, "last": last}

    def text(self, more: str = "") -> str:
        counted = f"{self.count:,} acknowledged{more}"
        if self.ends is None:
            return counted
        first, last = self.ends
        shared = "" if last - first < self.count else ", with others' between them"
        return f"{counted}; offsets {first:,} to {last:,}{shared}"


def send(log: Log, chunks: Iterable[Sequence[Line]]) -> Receipt:
    """Appends one chunk after the other, each acknowledged before the next is sent."""
    receipt = Receipt()
    with notes.status("Sending") as shown:
        for chunk in chunks:
            try:
                end = log.append(INPUT, [line.content for line in chunk])
            except (LogUnavailable, ValueError) as error:
                rest = f"{chunk[0].place} and what follows was not acknowledged"
                fail([str(error), f"{receipt.text()}: {rest}"])
            receipt.runs.append(range(end - len(chunk) + 1, end + 1))
            shown.update(f"{receipt.count:,} acknowledged")
    return receipt
