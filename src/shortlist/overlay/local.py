"""The shortlists that live at a broker: what came is held until its time has come, then selected.

Publications may come in any order, as long as they come before their instant is settled. One that
was withheld comes later, and enters the windows that it would have waited in.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from math import inf

import numpy as np
import pyarrow as pa

from shortlist.engine.matching import Chosen
from shortlist.engine.plain import PlainShard
from shortlist.engine.shard import Shard
from shortlist.intake.roster import BEFORE_ALL_TIME, Roster
from shortlist.matching.index.index import Index
from shortlist.model.command import Command
from shortlist.model.delivery import Delivery
from shortlist.model.items import Items
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits
from shortlist.model.times import END_OF_TIME
from shortlist.overlay.messages import Order
from shortlist.selection.window import WindowSelector

NO_PUBLICATIONS = Items.empty()
BEFORE_EVERYTHING: Order = (BEFORE_ALL_TIME, -1)


class Local:
    """Shortlists with all that decides what enters them.

    Where something may be withheld it is done plainly, since only plain windows take in what comes
    late.
    """

    def __init__(self, registry: Registry, limits: Limits, *, may_come_late: bool) -> None:
        self._shard: Shard | PlainShard
        if may_come_late:
            self._shard = PlainShard(registry, limits, Index)
        else:
            self._shard = Shard(registry, limits)
        self._publications: list[Items] = []
        self._commands: list[tuple[Items, Command]] = []
        self._chosen: dict[int, Sequence[str]] = {}
        self._settled = BEFORE_ALL_TIME
        self._changed: dict[str, Order] = {}
        """When the subscriptions of a shortlist changed last."""

    def take(self, items: Items, chosen: Chosen | None = None) -> None:
        """Publications; those with a reach go to the shortlists that were `chosen`."""
        if len(items):
            self._publications.append(items)
            self._chosen.update(chosen or {})

    def tell(self, row: Items, command: Command) -> None:
        """A command, and the item that it is."""
        self._commands.append((row, command))

    def settle(self, until: int) -> list[Delivery]:
        """Everything up to an instant happens, that included."""
        deliveries: list[Delivery] = []
        publications = self._due(until)
        orders = [*zip(publications.times.tolist(), publications.positions.tolist(), strict=True)]
        first = bisect_right(orders, (self._settled, inf))
        for place in range(first):
            deliveries += self._admit_late(publications.between(place, place + 1), orders[place])
        self._commands.sort(key=lambda told: _order(told[1]))
        while self._commands and self._commands[0][1].time <= until:
            row, command = self._commands.pop(0)
            end = bisect_right(orders, _order(command))
            deliveries += self._run(publications.between(first, end))
            deliveries += self._carry_out(row, command)
            first = end
        deliveries += self._run(publications.between(first, len(orders)))
        past = until if until == END_OF_TIME else until + 1
        deliveries += self._run(publications.between(0, 0), until=past)
        self._settled = until
        for _, position in orders:
            self._chosen.pop(position, None)
        return deliveries

    def floor(self, shortlist: str, after: int) -> tuple[float, int | None]:
        """Under which score a window lets nothing in, and until when that holds."""
        assert isinstance(self._shard, PlainShard)
        window = self._shard.selecting.selector(shortlist)
        return window.floor(after) if isinstance(window, WindowSelector) else (-inf, None)

    def _due(self, until: int) -> Items:
        """The publications up to an instant, in order; the others go on waiting."""
        if not self._publications:
            return NO_PUBLICATIONS
        every = Items.joined(self._publications)
        every = every.taken(np.lexsort((every.positions, every.times)))
        due = int(np.searchsorted(every.times, until, "right"))
        self._publications = [every.between(due, len(every))] if due < len(every) else []
        return every.between(0, due)

    def _carry_out(self, row: Items, command: Command) -> Iterator[Delivery]:
        home = self._roster.shortlist_of(command)
        yield from self._run(row, {command.position: command})
        if home is not None:
            self._changed[home] = _order(command)

    def _admit_late(self, row: Items, order: Order) -> Iterator[Delivery]:
        """A publication that was withheld: only for those who have not changed since.

        Whoever changes hears beforehand of all that is withheld, and the others came later.
        """
        unchanged = [
            name
            for name in self._roster.shortlists
            if self._changed.get(name, BEFORE_EVERYTHING) < order
        ]
        self._chosen[order[1]] = unchanged
        return self._run(row.with_columns(reach=pa.array([0]), advertisement=pa.array([""])))

    @property
    def _roster(self) -> Roster:
        return self._shard.matching.roster

    def _run(
        self,
        items: Items,
        commands: Mapping[int, Command] | None = None,
        *,
        until: int | None = None,
    ) -> Iterator[Delivery]:
        if isinstance(self._shard, PlainShard):
            yield from self._shard.run(items, commands, chosen=self._chosen, until=until)
            return
        for placed in self._shard.run(items, commands, chosen=self._chosen, until=until):
            yield from self._shard.objects(placed)


def _order(command: Command) -> Order:
    return command.time, command.position
