"""The home of split shortlists: it hears of matches at other brokers, and delivers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import isfinite

from shortlist.model.command import Close, Open
from shortlist.model.delivery import Delivery
from shortlist.model.policy import Novelty
from shortlist.model.shortlist import Shortlist
from shortlist.overlay.messages import Cancelled, Counts, Matches, Order, Totals
from shortlist.scoring.candidates import Candidate
from shortlist.scoring.combine import ScoredMatch, combined
from shortlist.selection.novelty import NoveltySelector

Event = Open | Close | Cancelled | Matches


@dataclass(slots=True)
class _Live:
    """A split shortlist that lives here."""

    shortlist: Shortlist
    opened: Order
    selector: NoveltySelector
    delivered: set[int] = field(default_factory=set)
    """The positions of what was delivered."""
    included: Counter[str] = field(default_factory=Counter)
    """By holder, how many of its matches the selector knows."""


class SplitHome:
    """Split shortlists that live at a broker.

    If it decides itself, it does so in the order of the input, once all that comes before is there.
    Where holders decide it adds up what they count, and delivers nothing twice.
    """

    def __init__(self, *, decides: bool) -> None:
        self._decides = decides
        self._live: dict[str, _Live] = {}
        self._waiting: list[Event] = []
        self._deliveries: list[Delivery] = []

    def hear(self, event: Event) -> None:
        """Something happens to a split shortlist; commands may come before older matches."""
        if self._decides:
            self._waiting.append(event)
        else:
            self._carry_out([event])

    def decided(self, until: int) -> list[Delivery]:
        """What is delivered of all that came up to an instant, and not said yet."""
        due = sorted((each for each in self._waiting if _order(each)[0] <= until), key=_order)
        self._waiting = [each for each in self._waiting if _order(each)[0] > until]
        for _, together in groupby(due, _order):
            self._carry_out([*together])
        deliveries, self._deliveries = self._deliveries, []
        return deliveries

    def count(self, counts: Counts) -> list[Totals]:
        """A holder says what it has decided on; everyone who is concerned hears the totals."""
        live = self._live.get(counts.shortlist)
        if live is None:
            return []
        for noted in counts.noted:
            live.selector.note(noted.members, delivered=noted.is_delivered)
        live.included[counts.holder] += len(counts.noted)
        return self.totals(counts.shortlist, None if counts.noted else counts.holder)

    def totals(self, shortlist: str, holder: str | None = None) -> list[Totals]:
        """What all holders of a shortlist are to know, or one of them."""
        live = self._live.get(shortlist)
        if live is None:
            return []
        state = live.selector.state()
        return [
            Totals(shortlist=shortlist, state=state, included=live.included[name], to=name)
            for name in ([*live.included] if holder is None else [holder])
        ]

    def _carry_out(self, events: list[Event]) -> None:
        """What happens at one place in the input."""
        found: dict[str, list[Matches]] = {}
        for event in events:
            match event:
                case Open(shortlist=shortlist):
                    self._live[shortlist.id] = _Live(shortlist, _order(event), selector(shortlist))
                case Close(shortlist=name):
                    del self._live[name]
                case Cancelled(shortlist=name, member=member):
                    if self._is_live(event):
                        self._live[name].selector.cancel(member, event.order[0])
                case Matches(shortlist=name):
                    if self._is_live(event):
                        found.setdefault(name, []).append(event)
        for name, together in sorted(found.items()):
            self._deliver(self._live[name], together)

    def _is_live(self, event: Cancelled | Matches) -> bool:
        """Whether it is about a shortlist that is there, and was there at that time."""
        live = self._live.get(event.shortlist)
        return live is not None and live.opened < event.order

    def _deliver(self, live: _Live, together: list[Matches]) -> None:
        """One publication, as its holders have found it."""
        publication = together[0].publication
        if publication.position in live.delivered:
            return  # a holder found it later than others
        matches = tuple(sorted(match for each in together for match in each.matches))
        score, named = together[0].novelty, matches[0]
        if self._decides and is_match(live.shortlist, matches):
            candidate = Candidate(publication, live.shortlist.id, 0.0, named, matches)
            for placed in live.selector.arrive(candidate, publication.time).placements:
                score, named = placed.score, placed.named
        if score is not None:
            live.delivered.add(publication.position)
            self._deliveries.append(_delivery(live.shortlist, together[0], score, named))


def selector(shortlist: Shortlist) -> NoveltySelector:
    """The policy of a split shortlist, with nothing seen yet."""
    assert isinstance(shortlist.policy, Novelty)
    return NoveltySelector(shortlist.policy, shortlist.id)


def is_match(shortlist: Shortlist, matches: Sequence[ScoredMatch]) -> bool:
    """Whether there is a score for members that match together, in order of id."""
    return bool(shortlist.prefers) or isfinite(combined(shortlist.combine, matches)[0])


def _delivery(shortlist: Shortlist, told: Matches, score: float, named: ScoredMatch) -> Delivery:
    return Delivery(
        time=told.publication.time,
        shortlist=shortlist.id,
        subscriber=shortlist.subscriber,
        publication=told.publication,
        subscription=named.subscription,
        score=score,
        possibility=named.possibility,
        necessity=named.necessity,
        rank=None,
        cause="arrival",
    )


def _order(event: Event) -> Order:
    if isinstance(event, Open | Close):
        return event.time, event.position
    return event.order
