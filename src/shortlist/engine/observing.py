"""Who watches a shard."""

from collections.abc import Callable, Iterator

from shortlist.engine.steps import BLOCK
from shortlist.model.command import Command
from shortlist.model.items import Items
from shortlist.selection.bank.offers import Placements


class Observer:
    """Sees every step that a shard takes; it may let what is due happen earlier, and no more.

    This one only lets a shard do what is due when it is told.
    """

    at_once = BLOCK
    """Publications that may be taken in one step."""

    def __init__(self, due: Callable[[int], Placements]) -> None:
        self._due = due

    def before(self, step: Items | Command) -> Iterator[Placements]:
        """A step comes; what happens before it."""
        return iter(())

    def during(self, step: Items | Command, placed: Placements) -> None:
        """What a step places; the registry is as before it."""

    def after(self, step: Items | Command) -> None: ...

    def due(self, before: int) -> Iterator[Placements]:
        """Lets everything happen that is due before an instant."""
        yield self._due(before)
