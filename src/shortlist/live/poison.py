"""Publications that tasks fail on, though their machine is well: found by halving, and refused.

What depends on the machine (a disk, a lost process) is raised as it is, and tried again as a whole.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from shortlist.live.gate import Admission, Passed, Refusal

W = TypeVar("W")
D = TypeVar("D")


class TaskFailed(Exception):
    """A task that would fail again."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What a task raised, in words: it may have happened in another process."""

    words: str


@dataclass(frozen=True, slots=True)
class Attempt(Generic[W, D]):
    """A task that answers with its failure, if it is its own.

    >>> Attempt(lambda divisor: 1 / divisor)(0)
    Failure(words='ZeroDivisionError: division by zero')
    """

    task: Callable[[W], D]

    def __call__(self, work: W) -> D | Failure:
        try:
            return self.task(work)
        except (OSError, MemoryError):
            raise
        except Exception as error:
            return Failure(f"{type(error).__name__}: {error}")


def succeeded(answers: Sequence[D | Failure]) -> list[D]:
    """What tasks did; raises `TaskFailed` if one of them failed."""
    for answer in answers:
        if isinstance(answer, Failure):
            raise TaskFailed(answer.words)
    return [answer for answer in answers if not isinstance(answer, Failure)]


def first_harmful(
    items: Sequence[Passed], failure: TaskFailed, attempt: Callable[[Sequence[Passed]], object]
) -> tuple[Passed, TaskFailed]:
    """The first item with which an attempt fails, and how; all of them together do so.

    Raises `TaskFailed` if an attempt fails without any: then it is not theirs.
    """
    attempt(items[:0])
    harmless, harmful = 0, len(items)
    while harmful - harmless > 1:
        middle = (harmless + harmful) // 2
        try:
            attempt(items[:middle])
        except TaskFailed as error:
            harmful, failure = middle, error
        else:
            harmless = middle
    return items[harmful - 1], failure


def turn_away(item: Passed, failure: TaskFailed, found: Admission) -> None:
    """Refuses a publication that was let in; its id stays taken."""
    found.passed.remove(item)
    found.counts["published"] -= 1
    found.refusals.append(
        Refusal(item.position, item.line, f"poisoned: {failure}", "poisoned"),
    )
