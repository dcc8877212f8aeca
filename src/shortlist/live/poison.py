"""Publications that the engine fails on: found by halving, and refused.

Whatever else goes wrong (a disk, a lost process, another version) is raised as it is, and the batch
tried again as a whole: no publication is to blame for it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from traceback import walk_tb
from typing import Generic, TypeVar

import numpy as np

from shortlist.engine.admission import Admitted, Refusal
from shortlist.model.items import Items

ROOMS = tuple(
    f"shortlist.{room}." for room in ("engine", "selection", "scoring", "matching", "fuzzy")
)
"""Where publications are dealt with."""
MOST_AT_ONCE = 3
"""Of a batch: if more of them are harmful, the engine is to blame, and nothing is refused."""

W = TypeVar("W")
D = TypeVar("D")


class TaskFailed(Exception):
    """A task whose engine failed, as it would again."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What the engine of a task raised, in words: it may have been in another process."""

    words: str


@dataclass(frozen=True, slots=True)
class Attempt(Generic[W, D]):
    """A task that answers with its engine's failure.

    >>> from shortlist.engine.arrow import rows
    >>> Attempt(lambda work: [*rows(work)])([7])
    Failure(words="AttributeError: 'int' object has no attribute ...")
    """

    task: Callable[[W], D]

    def __call__(self, work: W) -> D | Failure:
        try:
            return self.task(work)
        except (OSError, MemoryError):
            raise
        except Exception as error:
            if not _is_of_the_engine(error):
                raise
            return Failure(f"{type(error).__name__}: {error}")


def _is_of_the_engine(error: Exception) -> bool:
    frames = walk_tb(error.__traceback__)
    return any(frame.f_globals.get("__name__", "").startswith(ROOMS) for frame, _ in frames)


def succeeded(answers: Sequence[D | Failure]) -> list[D]:
    """What tasks did; raises `TaskFailed` if one of them failed."""
    for answer in answers:
        if isinstance(answer, Failure):
            raise TaskFailed(answer.words)
    return [answer for answer in answers if not isinstance(answer, Failure)]


def first_harmful(
    items: Items, failure: TaskFailed, attempt: Callable[[Items], object]
) -> tuple[int, TaskFailed]:
    """The place of the first item with which an attempt fails, and how; all together do so.

    Raises `TaskFailed` if an attempt fails without any: then it is not theirs.
    """
    attempt(items.between(0, 0))
    harmless, harmful = 0, len(items)
    while harmful - harmless > 1:
        middle = (harmless + harmful) // 2
        try:
            attempt(items.between(0, middle))
        except TaskFailed as error:
            harmful, failure = middle, error
        else:
            harmless = middle
    return harmful - 1, failure


def turn_away(place: int, failure: TaskFailed, found: Admitted) -> None:
    """Refuses a publication that was let in; its id stays taken."""
    item = found.items.between(place, place + 1)
    (position,), (line,) = item.positions.tolist(), item.values("line")
    found.items = found.items.kept(np.arange(len(found.items)) != place)
    found.counts["published"] -= 1
    found.refusals.append(Refusal(position, line or "", f"poisoned: {failure}", "poisoned"))
