"""Why a publication is on a shortlist of a deployment, or is not, or would be: its state is asked.

Nothing is restored but the shortlist that is asked about, and nothing of the deployment changes.
"""

import json
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shortlist.engine.admission import Admission
from shortlist.engine.admitted import Admitted
from shortlist.engine.contents import Entry, content
from shortlist.engine.explanation import Check, Explainer, Question, unchecked
from shortlist.engine.matching import NOMINATIONS, Matching
from shortlist.engine.plain import PlainShard, plain_copy
from shortlist.engine.steps import CommandReader, steps
from shortlist.intake.lines import ItemReader
from shortlist.intake.reading import items_of
from shortlist.live.audiences import part_of_shard, reached
from shortlist.live.files import Files
from shortlist.live.manifest import Chain, Manifest
from shortlist.live.registry_state import of_shard
from shortlist.live.shard import KeptShard, chosen_in, chosen_of, items_in
from shortlist.live.slots import shard_of
from shortlist.live.tables import joined
from shortlist.log.base import INPUT, Log
from shortlist.matching.blocks import Block, Bools
from shortlist.matching.index.index import Index
from shortlist.model.command import Command
from shortlist.model.delivery import Delivery
from shortlist.model.items import COMMAND, PUBLICATION, Items, Wanted
from shortlist.model.problem import ShortlistError
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits, Settings
from shortlist.model.shortlist import Shortlist
from shortlist.model.times import format_time
from shortlist.model.wording import RETRACTED, shown
from shortlist.selection.records import numbered

Document = dict[str, Any]


class NoSuchShortlist(ShortlistError, LookupError):
    """A shortlist that is not live."""


class Asked:
    """A shortlist of a deployment, to which questions are put."""

    def __init__(
        self,
        manifest: Manifest,
        files: Files,
        log: Log,
        shortlist: str,
        check: Check = unchecked,
        opened: int = 0,
    ) -> None:
        """Restore a shortlist; `check` is called between the steps of every answer.

        `opened` is the position of the command behind which the shortlist is its subscriber's:
        nothing is told of what came to it before.
        """
        self._opened = opened
        self._manifest = manifest
        self._files = files
        self._log = log
        self._shortlist = shortlist
        # those that the deployment compiled its registry with
        limits = Limits(**manifest.settings.get("limits", {}))
        self._limits = limits.for_what_was_read()
        self._compiled_with = limits
        self._check = check
        self._chain = manifest.shards[shard_of(shortlist, len(manifest.shards))]
        self._now = self._restored(self._chain)
        if shortlist not in self._now.shard.matching.roster.shortlists:
            raise NoSuchShortlist(f"there is no live shortlist {shortlist!r}")

    @property
    def registry(self) -> Registry:
        """The shortlist with its subscriptions, as they are now."""
        return self._now.shard.matching.roster.registry()

    def shown(self) -> tuple[Shortlist, list[Entry]]:
        """The shortlist, and what it shows just before the instant that the deployment has
        reached."""
        reached, shard = self._manifest.reached, self._now.shard
        entries = [] if reached is None else content(shard, self._shortlist, reached - 1)
        return shard.matching.roster.shortlists[self._shortlist], entries

    def would(self, publication: Publication, settings: Settings) -> Document:
        """Say what would become of a publication if it appeared now.

        Where its publisher reaches the k best shortlists only, the candidates of all shards are
        compared, as a batch would compare them.
        """
        copy = plain_copy(self._now.shard, self._question(publication))
        return self._judged(copy, publication, settings, self._chosen)

    def _chosen(self, items: Items) -> dict[int, list[str]]:
        """Return the shortlists that publishers choose for some publications, by position."""
        manifest = self._manifest
        named = []
        for shard, chain in enumerate(manifest.shards):
            self._check()
            concerns = of_shard(shard, len(manifest.shards))
            part = part_of_shard(chain, self._files, self._compiled_with, concerns, self._check)
            for block in part.steps(items):
                self._check()
                named.append(part.matching.nominations(block))
        return chosen_of(reached(joined(named, NOMINATIONS)))

    def happened(self, question: Question) -> list[Document]:
        """What became of a publication that came since the last snapshot, in order of time; nothing
        if it came before, or never. All that came since goes through the same state once more."""
        chain = self._chain
        for number, taken in enumerate(chain.inputs):
            items = items_in(taken, self._files, self._concerns)
            if _asked(items, question).any():
                before = replace(chain, inputs=chain.inputs[:number], until=None)
                return self._went_on(self._restored(before), number, question)
        return []

    def taken_back(self) -> dict[tuple[str, str], str]:
        """Return what publishers have taken back since the last snapshot: how, by source and id.

        The state reaches further back than the end of the log that previews read.
        """
        found: dict[tuple[str, str], str] = {}
        for taken in self._chain.inputs:
            self._check()
            items = items_in(taken, self._files, self._concerns)
            replaces = np.asarray(items.batch.column("replaces").is_valid())
            some = items.kept((items.kinds == COMMAND) | replaces)
            columns = (some.values(name) for name in ("source", "id", "replaces", "line"))
            for kind, source, name, replaced, line in zip(some.kinds, *columns, strict=True):
                if kind == PUBLICATION:
                    found[source, replaced] = f"replaced by {shown(name)}"
                else:
                    retracted = json.loads(line).get("retract")
                    if retracted is not None:
                        found[retracted["source"], retracted["id"]] = RETRACTED
        return found

    def lately(self, most: int) -> tuple[list[Document], int]:
        """What became of the last publications that match, about so many of all; and the offset of
        the input behind which that is all."""
        inputs, number, count = self._chain.inputs, len(self._chain.inputs), 0
        first = self._manifest.position
        while number and count < most:
            items = items_in(inputs[number - 1], self._files, self._concerns)
            first = min([first, *(items.positions - 1).tolist()])
            count += len(items)
            number -= 1
        before = replace(self._chain, inputs=inputs[:number], until=None)
        question = Question(shortlist=self._shortlist, check=self._check)
        return self._went_on(self._restored(before), number, question), first - self._manifest.base

    def stands(self, question: Question) -> list[Document]:
        """How a publication that the shortlist holds stands there now; nothing if it holds none."""
        reached = self._manifest.reached
        if reached is None:
            return []
        _, entries = self.shown()
        for at, entry in enumerate(entries):
            if question.is_about(entry.publication):
                return [self._standing(entry.publication, reached, entry, entries[:at])]
        held = (one for one in self._held(reached) if question.is_about(one))
        return [self._standing(one, reached, None, entries) for one in islice(held, 1)]

    def _held(self, reached: int) -> list[Publication]:
        """All that the shortlist's policies hold, whether it is shown or not."""
        copy, held = plain_copy(self._now.shard, Question()), []
        copy.selecting.advance(reached)

        def note(publication: Publication) -> int:
            held.append(publication)
            return len(held)

        numbered(copy.selecting.selector(self._shortlist).state(), note)
        return held

    def _standing(
        self, publication: Publication, reached: int, entry: Entry | None, better: list[Entry]
    ) -> Document:
        """How a publication stands that is shown, or only held, and what stands before it."""
        told: Document = {
            "time": format_time(reached),
            "publication": publication.id,
            "source": publication.source,
            "shortlist": self._shortlist,
            "delivered": entry is not None and not entry.waiting,
            "reason": _present(entry),
        }
        if entry is not None:
            told |= {"rank": entry.rank, "score": entry.score}
        if entry is not None and entry.subscription is not None:
            told["subscription"] = entry.subscription
        told["above"] = [
            {
                "source": one.publication.source,
                "publication": one.publication.id,
                "score": one.score,
            }
            for one in better
        ]
        data = data_at(publication.position, self._manifest, self._log)
        if data is not None:
            whole = replace(publication, data=data)
            question = self._question(whole)
            alone = PlainShard(self.registry, self._limits, Index, question, of_a_shard=True)
            told["subscriptions"] = self._judged(alone, whole, Settings())["subscriptions"]
        return told

    def _judged(
        self,
        plain: PlainShard,
        publication: Publication,
        settings: Settings,
        choose: Callable[[Items], dict[int, list[str]]] = lambda items: {},
    ) -> Document:
        """Return what a plain shard says of a publication that comes to it next.

        `choose` is asked only where a publisher's advertisement limits the publication's audience.
        """
        found, explainer = Admitted(), _explainer(plain)
        admission = Admission(self.registry, settings)
        wanted = admission.wanted.joined(Wanted(data=True))
        admission.let_in(items_of([publication], wanted)[0], found)
        if found.refusals:
            explainer.turned_away(publication, found.refusals[0].reason)
        elif publication.dead_on_arrival:
            explainer.turned_away(publication, "expired on arrival")
        else:
            is_limited = found.items.batch.column("reach").is_valid().to_pylist() == [True]
            chosen = choose(found.items) if is_limited else {}
            deque(plain.run(found.items, chosen=chosen), maxlen=0)
        *_, outcome = explainer.taken(())
        return outcome

    def _question(self, publication: Publication) -> Question:
        return Question(
            publication=publication.id,
            source=publication.source,
            shortlist=self._shortlist,
            check=self._check,
        )

    def _concerns(self, shortlist: str | None) -> bool:
        return shortlist in (None, self._shortlist)

    def _restored(self, chain: Chain) -> KeptShard:
        return KeptShard.restore(chain, self._files, self._limits, self._concerns, is_whole=False)

    def _went_on(self, kept: KeptShard, number: int, question: Question) -> list[Document]:
        """Everything from an input on, with reasons; of this opening alone."""
        copy = plain_copy(kept.shard, question)
        deliveries: list[Delivery] = []
        matching = kept.shard.matching
        reader = ItemReader(matching.values.vocabulary, self._limits)
        for taken in self._chain.inputs[number:]:
            self._check()
            items = items_in(taken, self._files, self._concerns)
            items = items.kept(_asked(items, question) | _matching(items, matching, reader))
            chosen = chosen_in(taken, self._files)
            opened = np.flatnonzero(items.positions == self._opened)
            if opened.size:
                behind = int(opened[0]) + 1
                deque(copy.run(items.between(0, behind), chosen=chosen), maxlen=0)
                _explainer(copy).taken(())
                deliveries.clear()
                items = items.between(behind, len(items))
            deliveries += copy.run(self._with_data(items), chosen=chosen)
        if self._chain.until is not None:
            deliveries += copy.selecting.advance(self._chain.until)
        return _explainer(copy).taken(deliveries)

    def _with_data(self, items: Items) -> Items:
        """The same with the data of publications, as their lines in the log have it."""
        found = (
            data_at(position, self._manifest, self._log) if kind == PUBLICATION else None
            for position, kind in zip(items.positions.tolist(), items.kinds.tolist(), strict=True)
        )
        texts = (None if data is None else json.dumps(data) for data in found)
        return items.with_columns(data=pa.array(texts, pa.string()))


def data_at(position: int, manifest: Manifest, log: Log) -> Any:
    """A publication's data, as its line in the log has it; None if that is another log."""
    offset = position - manifest.base
    for entry in log.read(INPUT, offset - 1, offset) if offset > 0 else ():
        return json.loads(entry.content.decode("utf-8-sig")).get("data") or {}
    return None


def _explainer(copy: PlainShard) -> Explainer:
    assert copy.explainer is not None
    return copy.explainer


def _asked(items: Items, question: Question) -> Bools:
    """Which items are publications that a question is about, if it names any."""
    is_named = question.publication is not None or question.source is not None
    is_asked: Bools = (items.kinds == PUBLICATION) & is_named
    for column, wanted in (("id", question.publication), ("source", question.source)):
        if wanted is not None:
            found = pc.fill_null(pc.equal(items.batch.column(column), wanted), False)
            is_asked = is_asked & np.asarray(found)
    return is_asked


def _matching(items: Items, matching: Matching, reader: ItemReader) -> Bools:
    """Which items change anything: commands, publications that match, and those that replace
    others. The registry goes along with them."""
    matters: Bools = np.asarray(items.batch.column("replaces").is_valid())
    matters, first = matters.copy(), 0
    for step in steps(items, CommandReader(reader)):
        if isinstance(step, Command):
            matching.apply(step)
            matters[first] = True
            first += 1
        else:
            combined, *_ = matching.combined(Block.of_items(step, matching.values))
            matters[first + combined.publications] = True
            first += len(step)
    return matters


def _present(entry: Entry | None) -> str:
    """How something stands that is shown, or only held."""
    if entry is None:
        return "held, but not among the best at present: it comes if better ones leave"
    until = "" if entry.until is None else f", until {format_time(entry.until)}"
    how = "waits to be delivered, and would be" if entry.waiting else "on the shortlist now,"
    return f"{how} at rank {entry.rank}{until}"
