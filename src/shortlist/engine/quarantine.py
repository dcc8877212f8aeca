"""What the engine fails on, put aside so that everything else goes on."""

from collections.abc import Mapping
from typing import NamedTuple

from shortlist.model.problem import ShortlistError
from shortlist.model.wording import one_line

PREFIX = "quarantined: "
"""Of the reasons of rejects that are in quarantine, or were."""
LONGEST = 400
"""Letters of a reason."""


class Harmful(ShortlistError):
    """Items that the engine fails on, and how, by position."""

    def __init__(self, reasons: Mapping[int, str]) -> None:
        super().__init__("; ".join(f"{position}: {why}" for position, why in reasons.items()))
        self.reasons = dict(reasons)


class Quarantined(NamedTuple):
    """An item that was put aside."""

    position: int
    time: int
    line: str
    reason: str


def words_of(error: BaseException) -> str:
    """What was raised, on a line that every file can hold.

    >>> words_of(OverflowError("too\\nlarge \\ud800"))
    'OverflowError: too\\\\nlarge \\\\ud800'
    """
    return one_line(f"{type(error).__name__}: {error}")[:LONGEST]


class Blaming:
    """Whatever goes wrong meanwhile is the fault of the item at a position; a disk is nobody's.

    >>> with Blaming(7):
    ...     1 / 0
    Traceback (most recent call last):
    ...
    shortlist.engine.quarantine.Harmful: 7: ZeroDivisionError: division by zero
    """

    __slots__ = ("_position",)

    def __init__(self, position: int) -> None:
        self._position = position

    def __enter__(self) -> None: ...

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, OSError | Harmful):
            raise Harmful({self._position: words_of(error)}) from error
