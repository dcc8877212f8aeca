"""A shard: admitted items in order in, deliveries out. It matches, scores, combines and selects."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from shortlist.engine.delivering import Published, Receiving, delivery_batch
from shortlist.engine.delivery_ids import shortlist_texts
from shortlist.engine.kernels.sha256 import Texts
from shortlist.engine.live_registry import opened_by, tell
from shortlist.engine.matching import Chosen, Matching, inducements
from shortlist.engine.names import NameColumn
from shortlist.engine.steps import BLOCK, CommandReader, steps
from shortlist.intake.lines import ItemReader
from shortlist.intake.roster import registry_commands
from shortlist.matching.blocks import Block, Bools, Ints
from shortlist.model.command import Command, Heartbeat, Retract, Update
from shortlist.model.counts import OTHER_TYPE, SUPPRESSED
from shortlist.model.delivery import Delivery
from shortlist.model.items import Items
from shortlist.model.policy import POLICIES, Policy, policies_of
from shortlist.model.policy_changes import kept_by
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.scoring.blocks import Arrivals
from shortlist.scoring.combined import Expected
from shortlist.selection.bank.offers import NO_PLACEMENTS, Placements
from shortlist.selection.bank.selecting import BankSelecting
from shortlist.selection.bank.tables import Table
from shortlist.selection.bank.world import Subscriptions

CHAIN = "chain"
KINDS = (*POLICIES, CHAIN)
AUDIENCE = "audience"
"""A publisher's k best were others; these do not count as matches."""
HOPELESS = "hopeless"
"""Left out before they had a score, since k others were better."""
NOBODY: Ints = np.empty(0, np.int32)


class FoundMatches(Protocol):
    """Matches that were found elsewhere."""

    def of(self, items: Items, matching: Matching) -> Arrivals:
        """Those of a block of publications, with the numbers that are used here."""
        ...


class Observer(Protocol):
    """Sees every step that a shard takes; it may let what is due happen earlier, and no more."""

    at_once: int
    """Publications that may be taken in one step."""

    def before(self, step: Items | Command) -> Iterator[Placements]:
        """A step comes; what happens before it."""
        ...

    def during(self, step: Items | Command, placed: Placements) -> None:
        """What a step places; the registry is as before it."""
        ...

    def after(self, step: Items | Command) -> None: ...

    def due(self, before: int) -> Iterator[Placements]:
        """Lets everything happen that is due before an instant."""
        ...


class Shard:
    """Shortlists, with everything that decides what enters them.

    >>> from shortlist.intake.files import registry_from_documents
    >>> cheapest = {"id": "cheapest", "score": "-rent", "policy": {"kind": "top-k", "k": 1}}
    >>> registry = registry_from_documents({"subscriptions": [cheapest]})
    >>> Shard(registry, Limits()).matching.roster.shortlists["cheapest"].policy.k
    1
    """

    def __init__(self, registry: Registry, limits: Limits, *, finds: bool = True) -> None:
        self.matching = Matching(registry.vocabulary, limits, finds=finds)
        self.selecting = BankSelecting(
            Subscriptions(
                lambda: self.matching.combining.refreshes,
                lambda number: self.matching.subscription(number).id,
                self.matching.number,
            )
        )
        self._reader = ItemReader(registry.vocabulary, limits.for_what_was_read())
        self._shortlists: list[Shortlist | None] = []
        self.names, self._subscribers = NameColumn(), NameColumn()
        """The ids of shortlists, and whose they are."""
        self._hashed: Texts | None = None
        """All ids of shortlists, ready for those of deliveries."""
        self.counts: Counter[str] = Counter()
        """Matches, and deliveries by cause."""
        self.suppressed: Counter[str] = Counter()
        """Matches that were not delivered at arrival, by kind of policy or other reason."""
        self._kinds = Table([("kind", "i1")])
        self.offered = NOBODY
        """The shortlists that the last publications came to."""
        self.changes = 0
        """How many commands have changed the registry."""
        commands = [*registry_commands(registry)]
        self._open_all([*opened_by(commands)])
        for command in commands:
            self.matching.apply(command)

    @property
    def work(self) -> dict[str, Any]:
        """What was done so far: matches, deliveries by cause, values of another type."""
        return {**self.counts, "other_type": dict(self.matching.census.mismatches)}

    @property
    def tallies(self) -> Counter[str]:
        """What was done so far, each kind of it under a name of its own."""
        tallies = Counter(self.counts)
        mismatches = self.matching.census.mismatches
        tallies.update({f"{OTHER_TYPE}{name}": count for name, count in mismatches.items()})
        tallies.update({f"{SUPPRESSED}{why}": count for why, count in self.suppressed.items()})
        return tallies

    def run(
        self,
        items: Items,
        commands: Mapping[int, Command] | None = None,
        *,
        chosen: Chosen | None = None,
        found: FoundMatches | None = None,
        until: int | None = None,
        observer: Observer | None = None,
    ) -> Iterator[Placements]:
        """Takes the next admitted items in; then everything happens that is due before `until`.

        What is placed has numbers that hold until the next one is asked for. Whom publishers reach
        is `chosen` elsewhere, where there are other shards.
        """
        watching = observer or Unobserved(self)
        for step in steps(items, CommandReader(self._reader, commands), watching.at_once):
            yield from watching.before(step)
            if isinstance(step, Command):
                told = tell(self, step, self.matching.roster)
                placed = self._counted(Placements.joined([NO_PLACEMENTS, *told]))
            else:
                placed = self._publish(step, chosen, found)
            watching.during(step, placed)
            yield placed
            if isinstance(step, Command):
                self._carry_out(step)
            watching.after(step)
        if until is not None:
            yield from watching.due(until)

    def due(self, before: int) -> Placements:
        """Everything due before an instant."""
        return self._counted(self.selecting.advance(before))

    def open(self, shortlist: Shortlist) -> None:
        self._open_all([shortlist])

    def _open_all(self, shortlists: Sequence[Shortlist]) -> None:
        numbers = self.matching.shortlists
        numbered = {numbers.number(shortlist.id): shortlist for shortlist in shortlists}
        self._note(numbered)
        self.selecting.open_all(numbered)

    def close(self, shortlist: str, time: int) -> Placements:
        return self.selecting.close(self.matching.shortlists.number(shortlist), time)

    def cancel(self, shortlist: str, subscription: str, time: int) -> Placements:
        numbers = self.matching.shortlists.number(shortlist), self.matching.number(subscription)
        return self.selecting.cancel(*numbers, time)

    def update(
        self, shortlist: Shortlist, subscription: Subscription | None, time: int
    ) -> Placements:
        """Settings change, after all that is due at or before an instant.

        Of subscriptions nothing but their numbers is known here.
        """
        number = self.matching.shortlists.number(shortlist.id)
        if kept_by(self.shortlist(number).policy, shortlist.policy):
            settled = self.selecting.settle(number, time)
            return Placements.joined([settled, self.selecting.change(number, shortlist, time)])
        settled = self.selecting.close(number, time)
        self.selecting.open_all({number: shortlist})
        return settled

    def retract(self, source: str, publication: str, time: int) -> Placements:
        return self.selecting.retract(source, publication, time)

    def shortlist(self, number: int) -> Shortlist:
        shortlist = self._shortlists[number]
        assert shortlist is not None
        return shortlist

    def deliveries(self, placed: Placements, with_data: bool = False) -> pa.RecordBatch:
        """Placements as rows of DELIVERIES."""
        numbers, what = np.unique(placed.publications, return_inverse=True)
        places, publications = numbers.tolist(), self.selecting.publications
        return delivery_batch(
            Published(
                sources=publications.text("source", places),
                ids=publications.text("id", places),
                positions=publications.facts["position"][numbers],
                data=publications.text("data", places) if with_data else None,
                places=what,
            ),
            self._receiving(placed.places),
            times=placed.times,
            subscriptions=self.matching.names.taken(placed.named),
            scores=placed.scores,
            possibilities=placed.possibilities,
            necessities=placed.necessities,
            ranks=pa.array(placed.ranks, mask=placed.ranks == 0),
            promoted=placed.promoted,
        )

    def _receiving(self, numbers: Ints) -> Receiving:
        """The shortlists of deliveries, by number: all there are, or only these if they are few."""
        if self.names.is_cheap(numbers.size):
            if self._hashed is None:
                self._hashed = shortlist_texts(self.names.column().fill_null(""))
            columns = self.names.column(), self._subscribers.column()
            return Receiving(*columns, self._hashed, numbers)
        who, places = np.unique(numbers, return_inverse=True)
        ids = self.names.taken(who)
        hashed = shortlist_texts(ids)
        return Receiving(ids, self._subscribers.taken(who), hashed, places)

    def objects(self, placed: Placements) -> Iterator[Delivery]:
        """Placements one by one."""
        columns = (column.tolist() for column in placed)
        for number, time, publication, score, named, high, low, rank, promoted, _ in zip(
            *columns, strict=True
        ):
            shortlist = self.shortlist(number)
            yield Delivery(
                time=time,
                shortlist=shortlist.id,
                subscriber=shortlist.subscriber,
                publication=self.selecting.publications[publication],
                subscription=self.matching.subscription(named).id,
                score=score,
                possibility=high,
                necessity=low,
                rank=rank or None,
                cause="promotion" if promoted else "arrival",
            )

    def _carry_out(self, command: Command) -> None:
        name = self.matching.roster.shortlist_of(command)
        self.matching.apply(command)
        if not isinstance(command, Retract | Heartbeat):
            self.changes += 1
        if isinstance(command, Update) and name is not None:
            number = self.matching.shortlists.number(name)
            self._note({number: self.matching.roster.shortlists[name]})

    def _note(self, shortlists: Mapping[int, Shortlist]) -> None:
        """Keeps who shortlists are, by number."""
        for number, shortlist in shortlists.items():
            if number == len(self._shortlists):
                self._shortlists.append(None)
            self._shortlists[number] = shortlist
            self.names.put(number, shortlist.id)
            self._subscribers.put(number, shortlist.subscriber)
        self._hashed = None
        kinds = [KINDS.index(_kind(shortlist.policy)) for shortlist in shortlists.values()]
        self._kinds.put_all(np.fromiter(shortlists, np.int64), kind=kinds)

    def _publish(
        self, items: Items, chosen: Chosen | None, found: FoundMatches | None
    ) -> Placements:
        """Offers publications to every shortlist that they match and were chosen for."""
        self.selecting.sweep()
        self.offered, placed = NOBODY, [NO_PLACEMENTS]
        for run, replaces, is_dead in _runs(items):
            if replaces is not None:
                source = run.batch.column("source")[0].as_py()
                time = int(run.times[0])
                placed.append(self._counted(self.selecting.retract(source, replaces, time)))
            if not is_dead:
                placed.append(self._arrive(run, chosen, found))
        return Placements.joined(placed)

    def _arrive(
        self, items: Items, chosen: Chosen | None, found: FoundMatches | None
    ) -> Placements:
        """What publications lead to that nothing happens between."""
        block = Block.of_items(items, self.matching.values)
        if found is None:
            combined, sets, left_out = self.matching.combined(block, self._expected(items))
        else:
            arrivals = found.of(items, self.matching)
            combined, sets = self.matching.combining.grouped(len(items), arrivals)
            left_out = 0
        is_chosen = self.matching.is_chosen(items, block, combined, chosen)
        if not is_chosen.all():
            self.suppressed[AUDIENCE] += int((~is_chosen).sum())
            combined = combined.kept(is_chosen)
        self.offered = np.append(self.offered, combined.shortlists)
        self.counts["matched"] += combined.scores.size + left_out
        placed = self._counted(self.selecting.publish(items, combined, sets))
        self._suppress(combined.shortlists, left_out, placed.kept(~placed.promoted).places)
        return placed

    def _suppress(self, offered: Ints, left_out: int, placed: Ints) -> None:
        """Counts what was offered to shortlists and is not placed."""
        kinds = self._kinds["kind"]
        missing = np.bincount(kinds[offered], minlength=len(KINDS))
        missing -= np.bincount(kinds[placed], minlength=len(KINDS))
        for kind, count in zip(KINDS, missing.tolist(), strict=True):
            if count:
                self.suppressed[kind] += count
        if left_out:
            self.suppressed[HOPELESS] += left_out

    def _expected(self, items: Items) -> Expected | None:
        """What publications must reach to matter; who is chosen for one depends on all of them."""
        if not self.matching.combining.expects or inducements(items):
            return None
        lasts: Bools = np.asarray(items.batch.column("expiry").is_null())
        return Expected(*self.selecting.expected(int(items.times[-1])), lasts)

    def _counted(self, placed: Placements) -> Placements:
        promotions = int(placed.promoted.sum())
        if placed.promoted.size > promotions:
            self.counts["arrival"] += placed.promoted.size - promotions
        if promotions:
            self.counts["promotion"] += promotions
        return placed


class Unobserved:
    """Nobody watches a shard."""

    at_once = BLOCK

    def __init__(self, shard: Shard) -> None:
        self._shard = shard

    def before(self, step: Items | Command) -> Iterator[Placements]:
        return iter(())

    def during(self, step: Items | Command, placed: Placements) -> None: ...

    def after(self, step: Items | Command) -> None: ...

    def due(self, before: int) -> Iterator[Placements]:
        yield self._shard.due(before)


def _kind(policy: Policy) -> str:
    """What shortlists with this policy are counted as."""
    kinds = [each.kind for each in policies_of(policy)]
    return kinds[0] if len(kinds) == 1 else CHAIN


def _runs(items: Items) -> Iterator[tuple[Items, str | None, bool]]:
    """Publications cut before each one that replaces another, and behind one that is dead; with
    the id of what the first one replaces, and whether it is dead."""
    replaces = items.batch.column("replaces")
    is_replacing = np.asarray(replaces.is_valid())
    is_dead = items.numbers("expiry", 2**62) <= items.times
    is_first = is_replacing.copy()
    is_first[1:] |= is_dead[:-1]
    bounds = [0, *(np.flatnonzero(is_first[1:]) + 1).tolist(), len(items)]
    for first, end in pairwise(bounds):
        yield items.between(first, end), replaces[first].as_py(), bool(is_dead[first])
