"""Lines sent to the input of a log: what is acknowledged, and where it stands."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from shortlist.log.base import INPUT, Log, LogUnavailable
from shortlist.model.problem import ShortlistError

MOST_LINES = 1000
"""So many lines every log takes at once or not at all."""


class Line(NamedTuple):
    """A line, and where it stands."""

    place: str
    content: bytes


def in_chunks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """The same, so many at a time as a log takes at once."""
    rest = iter(lines)
    while chunk := list(islice(rest, MOST_LINES)):
        yield chunk


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

    def document(self) -> dict[str, int | None]:
        first, last = self.ends or (None, None)
        return {"acknowledged": self.count, "first": first, "last": last}

    def text(self, more: str = "") -> str:
        counted = f"{self.count:,} acknowledged{more}"
        if self.ends is None:
            return counted
        first, last = self.ends
        shared = "" if last - first < self.count else ", with others' between them"
        return f"{counted}; offsets {first:,} to {last:,}{shared}"


class NotAcknowledged(ShortlistError):
    """A log failed on the way; the receipt has what it took before."""

    def __init__(self, problem: str, receipt: Receipt, place: str) -> None:
        rest = f"{place} and what follows was not acknowledged"
        super().__init__(f"{problem}\n{receipt.text()}: {rest}")
        self.receipt = receipt


def send(log: Log, chunks: Iterable[Sequence[Line]]) -> Iterator[Receipt]:
    """Appends one chunk after the other, each acknowledged before the next is sent; the receipt so
    far, before the first and after each."""
    receipt = Receipt()
    yield receipt
    for chunk in chunks:
        try:
            end = log.append(INPUT, [line.content for line in chunk])
        except (LogUnavailable, ValueError) as error:
            raise NotAcknowledged(str(error), receipt, chunk[0].place) from error
        receipt.runs.append(range(end - len(chunk) + 1, end + 1))
        yield receipt
