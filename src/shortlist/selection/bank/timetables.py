"""The calendars of many shortlists by number, as kernels look into them."""

import numpy as np

from shortlist.matching.blocks import Longs
from shortlist.selection.bank.tables import Table
from shortlist.selection.calendars import STRETCH, Calendar, Cycle, periods
from shortlist.selection.kernels.periods import Tables

NOTHING: Longs = np.empty(0, np.int64)


class Timetables:
    """Shortlists with equal calendars share one; periods are listed as far as they are needed.

    >>> known = Timetables()
    >>> for place, span in enumerate([10, 20, 10]):
    ...     known.put(np.array([place]), Cycle(span))
    >>> tables = known.covering(0, 5)
    >>> tables.of_places[:3], tables.spans
    (array([0, 1, 0], dtype=int32), array([10, 20]))
    """

    def __init__(self) -> None:
        self._of_places = Table([("calendar", "i4")])
        self._numbers: dict[Calendar, int] = {}
        self._listed: list[tuple[Longs, Longs]] = []
        self._covered = 0, 0
        """From which stretch on periods are listed, and before which one."""
        self._tables: Tables | None = None

    def put(self, places: Longs, calendar: Calendar) -> None:
        """Some places go by a calendar from now on."""
        number = self._numbers.setdefault(calendar, len(self._numbers))
        self._of_places.put_all(places, calendar=number)

    def covering(self, first: int, last: int) -> Tables:
        """All calendars, with the periods that instants from one to another may fall into."""
        # what holds an instant may have begun in the stretch before
        needed = first // STRETCH - 1, last // STRETCH + 1
        if needed[0] < self._covered[0] or needed[1] > self._covered[1]:
            self._covered, self._listed, self._tables = needed, [], None
        if self._tables is None or len(self._listed) < len(self._numbers):
            self._tables = self._joined()
        return self._tables._replace(of_places=self._of_places["calendar"])

    def _joined(self) -> Tables:
        calendars = [*self._numbers]
        self._listed += map(self._periods, calendars[len(self._listed) :])
        sizes = [begins.size for begins, _ in self._listed]
        spans = [each.span if isinstance(each, Cycle) else 0 for each in calendars]
        return Tables(
            of_places=self._of_places["calendar"],
            spans=np.array(spans, np.int64),
            firsts=np.cumsum([0, *sizes]),
            begins=np.concatenate([NOTHING, *(begins for begins, _ in self._listed)]),
            ends=np.concatenate([NOTHING, *(ends for _, ends in self._listed)]),
        )

    def _periods(self, calendar: Calendar) -> tuple[Longs, Longs]:
        if isinstance(calendar, Cycle):
            return NOTHING, NOTHING
        return periods(calendar, *self._covered)
