"""Items that the engine fails on: found by attempts at parts of a batch.

Whatever else goes wrong (a disk, a lost process, another version) fails without any items, too:
then nobody is to blame, and the batch is tried again as a whole.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from shortlist.engine.quarantine import words_of
from shortlist.model.items import COMMAND, Items

ATTEMPTS = 3
"""With an item by which an engine fails: chance does not put it aside."""

W = TypeVar("W")
D = TypeVar("D")


class TaskFailed(Exception):
    """A task whose engine failed."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What the engine of a task raised, in words: it may have been in another process."""

    words: str


def attempted(task: Callable[[W], D], work: W) -> D | Failure:
    """What a task answers, which may be its engine's failure; what a disk does is nobody's.

    >>> attempted(lambda work: 1 / work, 0)
    Failure(words='ZeroDivisionError: division by zero')
    """
    try:
        return task(work)
    except OSError:
        raise
    except Exception as error:
        return Failure(words_of(error))


def succeeded(answers: Sequence[D | Failure]) -> list[D]:
    """What tasks did; raises `TaskFailed` if one of them failed."""
    for answer in answers:
        if isinstance(answer, Failure):
            raise TaskFailed(answer.words)
    return [answer for answer in answers if not isinstance(answer, Failure)]


def find_harmful(items: Items, attempt: Callable[[Items], object]) -> dict[int, str]:
    """The positions of items by which attempts fail, and how; up to the first command among them,
    since what comes behind it may be decided otherwise without it.

    An item is harmful if everything harmless before it does no harm without it, and does with it.
    Raises `TaskFailed` if an attempt fails without any: then it is not theirs.
    """
    attempt(items.between(0, 0))
    is_kept = np.zeros(len(items), np.bool_)
    harmful: dict[int, str] = {}
    at, size = 0, max(len(items) // 2, 1)
    while at < len(items):
        end = min(at + size, len(items))
        is_kept[at:end] = True
        failure = _failure(items.kept(is_kept), attempt, ATTEMPTS if end - at == 1 else 1)
        if failure is None:
            at, size = end, 2 * size
            continue
        is_kept[at:end] = False
        if end - at > 1:
            size = (end - at) // 2
            continue
        harmful[int(items.positions[at])] = str(failure)
        if items.kinds[at] == COMMAND:
            break
        at = end
    return harmful


def _failure(items: Items, attempt: Callable[[Items], object], attempts: int) -> TaskFailed | None:
    """How all of some attempts failed; None if one succeeded."""
    failure = None
    for _ in range(attempts):
        try:
            attempt(items)
        except TaskFailed as error:
            failure = error
        else:
            return None
    return failure
