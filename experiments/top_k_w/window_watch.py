"""How windows are while publications flow: thresholds, what is kept, and how often that changes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from shortlist.engine.shard import Observer, Shard
from shortlist.engine.steps import BLOCK
from shortlist.matching.blocks import Floats, Longs
from shortlist.model.command import Command
from shortlist.model.items import Items
from shortlist.model.policy import Window
from shortlist.selection.bank.offers import Placements
from shortlist.selection.bank.window import WindowBank


class WindowStates(NamedTuple):
    """Some windows at one instant, in the order in which they were asked for."""

    time: int
    rows: Longs
    """How many publications are kept: the k best and those that may come among them."""
    thresholds: Floats
    """The k-th best score, or -inf."""
    threshold_changes: Longs
    cell_changes: Longs
    """How often a threshold moved across some of the breakpoints."""
    bars: Floats
    """Of windows with an error: what scores less is dropped when it comes, if it is not -inf."""


class WindowWatch(Observer):
    """An observer that tells how windows are before every step of a shard, and after the last.

    All that is due before has happened then.

    >>> from shortlist.engine.engine import Engine
    >>> from shortlist.intake.files import registry_from_documents
    >>> from shortlist.model.publication import Publication
    >>> best = {"id": "best", "score": "x", "policy": {"kind": "window", "k": 2, "window": "1s"}}
    >>> engine = Engine(registry_from_documents({"subscriptions": [best]}))
    >>> seen = []
    >>> engine.observer = WindowWatch(engine.shard, ["best"], seen.append, at_once=2)
    >>> news = [Publication(id=str(x), source="s", time=x, position=x, data={"x": x})
    ...         for x in range(4)]
    >>> _ = engine.process(news, last=True)
    >>> [(each.thresholds.item(), each.threshold_changes.item()) for each in seen]
    [(-inf, 0), (0.0, 1), (2.0, 3)]
    """

    def __init__(
        self,
        shard: Shard,
        shortlists: Sequence[str],
        tell: Callable[[WindowStates], None],
        *,
        at_once: int = BLOCK,
        breakpoints: Mapping[str, Floats] | None = None,
    ) -> None:
        """Shortlists whose only policy is a `window`, and the scores at which the interest of some
        of them changes, ascending."""
        super().__init__(shard.due)
        self._shard = shard
        self.at_once = at_once
        self._tell = tell
        self._banks, self._places = self._found(shortlists)
        for name, scores in (breakpoints or {}).items():
            at = shortlists.index(name)
            self._banks[at].watch(self._places[at], scores)
        self._last = 0

    def before(self, step: Items | Command) -> Iterator[Placements]:
        if isinstance(step, Command):
            first = self._last = step.time
        else:
            first, self._last = int(step.times[0]), int(step.times[-1])
        yield self._shard.due(first)
        self._tell(self._states(first))

    def due(self, before: int) -> Iterator[Placements]:
        self._tell(self._states(self._last))
        yield from super().due(before)

    def _found(self, shortlists: Sequence[str]) -> tuple[list[WindowBank], list[int]]:
        banks, places = [], []
        for name in shortlists:
            number = self._shard.matching.shortlists.number(name)
            stages = self._shard.selecting.stages(number)
            if [stage.policy for stage in stages] != [Window]:
                raise ValueError(f"shortlist {name!r}: expected a window and no other policy")
            bank = self._shard.selecting.levels[0].banks[stages[0].kind]
            assert isinstance(bank, WindowBank)
            banks.append(bank)
            places.append(stages[0].place)
        return banks, places

    def _states(self, time: int) -> WindowStates:
        heads = np.empty(len(self._banks), self._banks[0].arenas[0].heads.dtype)
        for at, (bank, place) in enumerate(zip(self._banks, self._places, strict=True)):
            heads[at] = bank.arenas[0].heads[place]
        return WindowStates(
            time,
            heads["length"].astype(np.int64),
            heads["threshold"],
            heads["threshold_changes"].astype(np.int64),
            heads["cell_changes"].astype(np.int64),
            heads["bar"],
        )
