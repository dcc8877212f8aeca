"""A shard: admitted items in order in, deliveries out. It matches, scores, combines and selects."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shortlist.engine.delivering import Receivers, delivery_batch
from shortlist.engine.live_registry import opened_by, tell
from shortlist.engine.matching import Chosen, FoundMatches, Matching, inducements
from shortlist.engine.rounds import Span, Stretch, Stretches, between
from shortlist.engine.steps import BLOCK, CommandReader, runs, steps
from shortlist.engine.tidings import Tidings
from shortlist.intake.columns import RegistryColumns
from shortlist.intake.lines import ItemReader
from shortlist.intake.roster import registry_commands
from shortlist.matching.blocks import Block, Bools, Ints
from shortlist.matching.index.numbering import SavedNumbers
from shortlist.matching.index.storage import Parts
from shortlist.model.command import Command, Heartbeat, Retract
from shortlist.model.counts import OTHER_TYPE, SUPPRESSED
from shortlist.model.delivery import Delivery
from shortlist.model.items import Items
from shortlist.model.policy import POLICIES, Policy, policies_of
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.scoring.combined import Combined, Expected
from shortlist.scoring.match_sets import MatchSets
from shortlist.selection.bank.offers import NO_PLACEMENTS, Placements
from shortlist.selection.bank.selecting import BankSelecting
from shortlist.selection.bank.tables import Table
from shortlist.selection.bank.world import Subscriptions


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


CHAIN = "chain"
KINDS = (*POLICIES, CHAIN)
AUDIENCE = "audience"
"""A publisher's k best were others; these do not count as matches."""
HOPELESS = "hopeless"
"""Left out before they had a score, since k others were better."""
NOBODY: Ints = np.empty(0, np.int32)


class Shard:
    """Shortlists, with everything that decides what enters them.

    >>> from shortlist.intake.files import registry_from_documents
    >>> cheapest = {"id": "cheapest", "score": "-rent", "policy": {"kind": "top-k", "k": 1}}
    >>> registry = registry_from_documents({"subscriptions": [cheapest]})
    >>> Shard(registry, Limits()).matching.roster.shortlists["cheapest"].policy.k
    1
    """

    def __init__(
        self,
        registry: Registry,
        limits: Limits,
        *,
        finds: bool = True,
        columns: RegistryColumns | None = None,
        saved: Parts | None = None,
    ) -> None:
        """With the registry alone, or with columns beside it, and what was saved of a matching
        that had the same."""
        limits = limits.for_what_was_read()
        commands = [*registry_commands(registry)]
        opened = [*opened_by(commands)]
        self.matching = Matching(
            registry.vocabulary,
            limits,
            finds=finds,
            shortlists=SavedNumbers.of([each.id for each in opened]),
            columns=columns,
            saved=saved,
        )
        self.selecting = BankSelecting(
            Subscriptions(
                lambda: self.matching.combining.refreshes,
                self.matching.names.__getitem__,
                self.matching.number,
            )
        )
        self._reader = ItemReader(registry.vocabulary, limits, again=True)
        self.names = self.matching.shortlists.names
        """The ids of shortlists."""
        self._receivers = Receivers(self.names, None if columns is None else columns.subscribers)
        self.counts: Counter[str] = Counter()
        """Matches, and deliveries by cause."""
        self.suppressed: Counter[str] = Counter()
        """Matches that were not delivered at arrival, by kind of policy or other reason."""
        self._kinds = Table([("kind", "i1")])
        self.offered = NOBODY
        """The shortlists that the last publications came to."""
        self.changes: list[Command] | None = None
        """The commands that have changed the registry since somebody packed it; None where nobody
        did, or they have become too many to stand beside it."""
        self._most_changes = 0
        for policy, numbers in columns.policies() if columns is not None else ():
            self.selecting.open_alike(policy, numbers, self.names.taken(numbers).to_pylist())
            self._kinds.put_all(numbers, kind=KINDS.index(_kind(policy)))
        self._note(dict(enumerate(opened)))
        self.selecting.open_all(dict(enumerate(opened)))
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
        told = CommandReader(self._reader, commands)
        if observer is None and found is None and not inducements(items):
            yield from self._run_together(items, told)
        else:
            yield from self._run_apart(items, told, observer or Observer(self.due), chosen, found)
        if until is not None:
            yield from (observer or Observer(self.due)).due(until)

    def _run_apart(
        self,
        items: Items,
        commands: CommandReader,
        watching: Observer,
        chosen: Chosen | None,
        found: FoundMatches | None,
    ) -> Iterator[Placements]:
        """Step by step: a command, or publications between two."""
        for step in steps(items, commands, watching.at_once):
            yield from watching.before(step)
            told = (
                self._obey(step)
                if isinstance(step, Command)
                else iter([self._publish(step, chosen, found)])
            )
            for placed in told:
                watching.during(step, placed)
                yield placed
            watching.after(step)

    def _run_together(self, items: Items, commands: CommandReader) -> Iterator[Placements]:
        """The same where nobody watches: publications are cut by commands only for the shortlists
        that these concern."""
        for stretch in Stretches(self.matching.roster).of(items, commands):
            if isinstance(stretch, Command):
                yield from self._obey(stretch)
            elif stretch.places:
                yield from self._run_rounds(stretch)
            elif len(stretch.publications):
                yield self._publish(stretch.publications, None, None)

    def _run_rounds(self, stretch: Stretch) -> Iterator[Placements]:
        items, matching = stretch.publications, self.matching
        self.selecting.sweep()
        first = self.selecting.publications.add(items)
        block = Block.of_items(items, matching.values)
        if block.size:
            spans = {name: (0, commands[0][0]) for name, commands in stretch.places.items()}
            numbered = self._numbered(spans)
            combined, sets, left_out = matching.combined(block, self._expected(items, [*numbered]))
            some = between(combined, numbered, len(self.names))
            yield self._offer(items, first, some, sets, left_out)
        for turns in stretch.rounds():
            tidings, placed = self._tell(turn.command for turn in turns)
            yield placed
            for turn in turns:
                matching.census.behind(block, turn.first)
                self._carry_out(turn.command)
            self._note(tidings.settings)
            matching.census.behind(block, block.size)
            live = matching.roster.shortlists
            spans = {
                turn.shortlist: (turn.first, turn.end)
                for turn in turns
                if turn.first < turn.end and turn.shortlist in live
            }
            if spans:
                combined, sets = matching.combined_of(spans, block)
                some = between(combined, self._numbered(spans), len(self.names), others=0)
                yield self._offer(items, first, some, sets)

    def _numbered(self, spans: Mapping[str, Span]) -> dict[int, Span]:
        """By number of a shortlist, of those that there are."""
        found = ((self.matching.shortlists.find(name), span) for name, span in spans.items())
        return {number: span for number, span in found if number >= 0}

    def _tell(self, commands: Iterable[Command]) -> tuple[Tidings, Placements]:
        """What commands mean and lead to that are about to be carried out, each for shortlists
        that no other one touches."""
        tidings = Tidings(self.matching, self.selecting)
        for command in commands:
            deque(tell(tidings, command, self.matching.roster), maxlen=0)
        return tidings, self._counted(tidings.told())

    def _obey(self, command: Command) -> Iterator[Placements]:
        """Tells of a command and carries it out, once what it leads to was taken."""
        tidings, placed = self._tell([command])
        yield placed
        self._carry_out(command)
        self._note(tidings.settings)

    def count(self, changes: list[Command], most: int) -> None:
        """From now on changes are noted behind these, as long as they are no more than that."""
        self.changes, self._most_changes = changes, most

    def follow(self, command: Command) -> None:
        """Carries out a command that was let in before, while nothing is held yet."""
        deque(self._obey(command), maxlen=0)

    def due(self, before: int) -> Placements:
        """Everything due before an instant."""
        return self._counted(self.selecting.advance(before))

    def deliveries(self, placed: Placements, with_data: bool = False) -> pa.RecordBatch:
        """Placements as rows of DELIVERIES."""
        return delivery_batch(
            placed, self.selecting.publications, self._receivers, self.matching.names, with_data
        )

    def objects(self, placed: Placements) -> Iterator[Delivery]:
        """Placements one by one."""
        columns = (column.tolist() for column in placed)
        for number, time, publication, score, named, high, low, rank, promoted, _ in zip(
            *columns, strict=True
        ):
            shortlist = self.matching.roster.shortlists[self.names[number]]
            yield Delivery(
                time=time,
                shortlist=shortlist.id,
                subscriber=shortlist.subscriber,
                publication=self.selecting.publications[publication],
                subscription=self.matching.names[named],
                score=score,
                possibility=high,
                necessity=low,
                rank=rank or None,
                cause="promotion" if promoted else "arrival",
            )

    def _carry_out(self, command: Command) -> None:
        self.matching.apply(command)
        if self.changes is not None and not isinstance(command, Retract | Heartbeat):
            self.changes.append(command)
            if len(self.changes) > self._most_changes:
                self.changes = None

    def _note(self, shortlists: Mapping[int, Shortlist]) -> None:
        """Keeps who shortlists are, by number."""
        for number, shortlist in shortlists.items():
            self._receivers.put(number, shortlist.subscriber)
        kinds = [KINDS.index(_kind(shortlist.policy)) for shortlist in shortlists.values()]
        self._kinds.put_all(np.fromiter(shortlists, np.int64), kind=kinds)

    def _publish(
        self, items: Items, chosen: Chosen | None, found: FoundMatches | None
    ) -> Placements:
        """Offers publications to every shortlist that they match and were chosen for."""
        self.selecting.sweep()
        self.offered, placed = NOBODY, [NO_PLACEMENTS]
        for run, replaces, is_dead in runs(items):
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
            arrivals = found(items, self.matching)
            combined, sets = self.matching.combining.grouped(len(items), arrivals)
            left_out = 0
        is_chosen = self.matching.is_chosen(items, block, combined, chosen)
        if not is_chosen.all():
            self.suppressed[AUDIENCE] += int((~is_chosen).sum())
            combined = combined.kept(is_chosen)
        self.offered = np.append(self.offered, combined.shortlists)
        return self._offer(items, self.selecting.publications.add(items), combined, sets, left_out)

    def _offer(
        self, items: Items, first: int, combined: Combined, sets: MatchSets, left_out: int = 0
    ) -> Placements:
        """What candidates lead to, and so many others that were left out; `first` is the number of
        the first publication. What is offered and not placed is counted."""
        self.counts["matched"] += combined.scores.size + left_out
        placed = self._counted(self.selecting.publish(items, first, combined, sets))
        kinds, delivered = self._kinds["kind"], placed.places[~placed.promoted]
        missing = np.bincount(kinds[combined.shortlists], minlength=len(KINDS))
        missing -= np.bincount(kinds[delivered], minlength=len(KINDS))
        for kind, count in zip(KINDS, missing.tolist(), strict=True):
            if count:
                self.suppressed[kind] += count
        if left_out:
            self.suppressed[HOPELESS] += left_out
        return placed

    def _expected(self, items: Items, but: Sequence[int] = ()) -> Expected | None:
        """What publications must reach to matter, but to some shortlists by number; who is chosen
        for one depends on all of them."""
        if not self.matching.combining.expects or inducements(items):
            return None
        lasts: Bools = np.asarray(items.batch.column("expiry").is_null())
        floors, ks = self.selecting.expected(int(items.times[-1]))
        ks[[*but]] = -1
        return Expected(floors, ks, lasts)

    def _counted(self, placed: Placements) -> Placements:
        promotions = int(placed.promoted.sum())
        if placed.promoted.size > promotions:
            self.counts["arrival"] += placed.promoted.size - promotions
        if promotions:
            self.counts["promotion"] += promotions
        return placed


def _kind(policy: Policy) -> str:
    """What shortlists with this policy are counted as."""
    kinds = [each.kind for each in policies_of(policy)]
    return kinds[0] if len(kinds) == 1 else CHAIN
