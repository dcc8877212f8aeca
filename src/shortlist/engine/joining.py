"""Pieces of a registry, each compiled on its own, as one compiled registry.

Numbers count on from piece to piece. Segments and texts stay the arrays that they are; only what
follows from shortlists, which any piece may have members of, is made here.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shortlist.engine.mentions import Mentions
from shortlist.engine.pieces import hashes
from shortlist.intake.columns import as_json
from shortlist.intake.documents import POLICY, brief
from shortlist.intake.roster import Roster, registry_commands
from shortlist.intake.written import registry_document
from shortlist.matching.arrays import Bools, Ints, Longs
from shortlist.matching.index.numbering import NOBODY, NumberTable, SavedNumbers, SavedRequests
from shortlist.matching.index.segments import Held, Shelf
from shortlist.matching.index.storage import Chained, Parts
from shortlist.matching.index.texts import Texts, joined_offsets
from shortlist.model.policy import Policy
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits
from shortlist.scoring.blocks import DISTANCES
from shortlist.scoring.combined import HOWS, asks_for_sets
from shortlist.scoring.levels import levels
from shortlist.scoring.stored import StoredScores
from shortlist.scoring.templates import ScoreRows

AT_ONCE = 1 << 14
"""Documents that are written together."""


class Joining:
    """The pieces of one registry, in order, beside all of it that is no subscription.

    >>> from shortlist.engine.compiled import opened
    >>> from shortlist.engine.pieces import PieceCompiler
    >>> from shortlist.intake.documents import Documents
    >>> from shortlist.intake.entries import EntryReader
    >>> from shortlist.intake.given import Given
    >>> from shortlist.matching.index.storage import in_memory
    >>> def piece(name, where):
    ...     given = Given.of_documents([{"id": name, "where": where}])
    ...     read = EntryReader(Documents()).read(given, lambda row: ("", None))
    ...     return PieceCompiler(Registry().vocabulary, Limits()).piece(read)
    >>> joining = Joining(Registry(), [piece("a", "rent < 9"), piece("b", "rent < 7")], Limits())
    >>> shard = opened(in_memory(joining.shard()), Limits())
    >>> shard.matching.number("b"), shard.matching.roster.subscriptions["b"].where
    (1, 'rent < 7')
    """

    def __init__(self, rest: Registry, pieces: Sequence[Parts], limits: Limits) -> None:
        self._rest, self._pieces, self._limits = rest, pieces, limits
        self._sizes = [piece["hashes"].size for piece in pieces]
        self._starts = np.cumsum([0, *self._sizes])
        self._order = self._owners_first()
        self._places = None if self._order is None else np.argsort(self._order)

    def shard(self, *, finds: bool = True) -> Parts:
        """What `opened` takes."""
        matching: Parts = {"numbered": {"numbers": self._subscriptions}}
        if finds:
            scores = self._scores
            matching["numbered"] |= {
                "requests": self._requests(),
                "shelf": self._shelf(),
                "scoring": {"scores": scores.saved(), "is_unconditional": self._is_unconditional},
            }
        matching |= {
            "shortlists": self._shortlists,
            "combining": self._combining(finds),
            "census": self._census(),
        }
        return {"columns": self.columns(), "matching": matching}

    def admission(self) -> Parts:
        """What an admission opens."""
        mentions, nobody = Mentions(self._rest.vocabulary, self._limits), Roster()
        for command in registry_commands(self._rest):
            mentions.apply(command, nobody)
        for piece in self._pieces:
            mentions.add(piece["mentions"])
        return {"columns": self.columns(), "mentions": mentions.saved()}

    def text(self) -> Iterator[bytes]:
        """The registry as JSON, as `registry_document` has it, piece by piece."""
        rest = registry_document(self._rest)
        lists = {"shortlists": map(as_json, rest["shortlists"]), "subscriptions": self._written()}
        yield f'{{"vocabulary":{as_json(rest["vocabulary"])}'.encode()
        for name, written in lists.items():
            comma = f',"{name}":['
            while some := [*islice(written, AT_ONCE)]:
                yield f"{comma}{','.join(some)}".encode()
                comma = ","
            yield b"]" if comma == "," else f"{comma}]".encode()
        yield f',"advertisements":{as_json(rest["advertisements"])}}}'.encode()

    def _written(self) -> Iterator[str]:
        if self._order is not None:
            yield from self._texts("documents")
            return
        for piece in self._pieces:
            yield from piece["documents"]

    def columns(self) -> Parts:
        """What `RegistryColumns` takes."""
        rest, explicit = registry_document(self._rest), len(self._rest.shortlists)
        order = np.argsort(self._homes, kind="stable")
        opened = [as_json(brief(each)) for each in self._rest.shortlists]
        count = len(self._shortlists.names)
        offsets = np.zeros(count + 1, np.int64)
        offsets[1 : explicit + 1] = np.cumsum([len(text.encode()) for text in opened])
        offsets[explicit + 1 :] = offsets[explicit]
        return {
            "vocabulary": as_json(rest["vocabulary"]),
            "advertisements": as_json(rest["advertisements"]),
            "subscriptions": self._subscriptions,
            "documents": self._documents(),
            "shortlists": self._shortlists,
            "opened": Texts(Texts.plain(opened).data, offsets),
            "numbers": np.arange(count),
            "subscribers": self._subscribers(),
            "policies": self._policies[1],
            "members": order.astype(np.int32),
            "starts": np.cumsum([0, *self._members]) if count else np.zeros(1, np.int64),
        }

    def _by_number(self, name: str) -> Any:
        """What pieces have of each subscription, in the order of all."""
        some = [piece[name] for piece in self._pieces]
        every = np.concatenate(some) if some else np.empty(0, np.int64)
        return every if self._order is None else every[self._order]

    def _moved(self, numbers: Ints, piece: int) -> Ints:
        """Numbers of a piece as those among all; nobody's stays nobody's."""
        is_one = numbers >= 0
        among = numbers + np.where(is_one, self._starts[piece], 0)
        if self._places is not None:
            among = np.where(is_one, self._places[among], NOBODY)
        return among.astype(np.int32)

    def _texts(self, name: str, some: Bools | None = None) -> Texts:
        """Texts of all subscriptions, or of some, in order."""
        texts = Texts.joined([piece[name] for piece in self._pieces])
        if self._order is None and some is None:
            return texts
        array = texts.arrow()
        if self._order is not None:
            array = array.take(pa.array(self._order))
        return Texts.of_arrow(array if some is None else array.filter(pa.array(some)))

    def _documents(self) -> Texts:
        """Where they lie, if they lie in order."""
        if self._order is not None:
            return self._texts("documents")
        return _chained([piece["documents"] for piece in self._pieces])

    def _is_named(self) -> Bools:
        """Which subscriptions name a shortlist, in the order of the pieces."""
        named = [np.diff(piece["shortlists"].offsets) > 0 for piece in self._pieces]
        return np.concatenate([np.empty(0, np.bool_), *named])

    def _owners_first(self) -> Longs | None:
        """The order in which nobody comes before the owner of the shortlist that it names; None
        where it is that of the pieces."""
        is_named = self._is_named()
        if not is_named.any():
            return None
        ids = Texts.joined([piece["ids"] for piece in self._pieces])
        homes = Texts.joined([piece["shortlists"] for piece in self._pieces])
        who = np.flatnonzero(is_named)
        owners = _numbers_of(homes.arrow().take(pa.array(who)), ids)
        owners[owners >= 0] = np.where(is_named[owners], NOBODY, owners)[owners >= 0]
        is_later = owners > who
        if not is_later.any():
            return None
        first = np.arange(is_named.size)
        np.minimum.at(first, owners[is_later], who[is_later])
        return np.lexsort((first == np.arange(first.size), first))

    @cached_property
    def _is_owner(self) -> Bools:
        """Whether a subscription has a shortlist of its own."""
        is_named = self._is_named()
        return ~(is_named if self._order is None else is_named[self._order])

    @cached_property
    def _subscriptions(self) -> SavedNumbers:
        table = NumberTable.of(self._by_number("hashes"))
        return SavedNumbers(self._texts("ids"), table)

    @cached_property
    def _shortlists(self) -> SavedNumbers:
        """Those of the registry, then those that subscriptions own."""
        if not self._rest.shortlists and self._is_owner.all():
            return self._subscriptions
        named = SavedNumbers.of([each.id for each in self._rest.shortlists])
        owned = self._texts("ids", self._is_owner)
        owned_hashes = self._by_number("hashes")[self._is_owner]
        known = np.append(hashes(named.names.arrow()), owned_hashes)
        return SavedNumbers(Texts.joined([named.names, owned]), NumberTable.of(known))

    @cached_property
    def _homes(self) -> Longs:
        """The shortlist of each subscription, by number."""
        explicit, is_owner = len(self._rest.shortlists), self._is_owner
        homes = np.cumsum(is_owner) - 1 + explicit
        if not is_owner.all():
            named = self._texts("shortlists", ~is_owner)
            homes[~is_owner] = _numbers_of(named.arrow(), self._shortlists.names)
        return homes

    @cached_property
    def _members(self) -> Longs:
        """How many each shortlist has."""
        return np.bincount(self._homes, minlength=len(self._shortlists.names))

    def _subscribers(self) -> Texts:
        """An owner without a subscriber is its own."""
        said, ids = self._texts("subscribers", self._is_owner), self._texts("ids", self._is_owner)
        is_said = np.diff(said.offsets) > 0
        if not is_said.any():
            owned = ids
        else:
            owned = Texts.of_arrow(pc.if_else(pa.array(is_said), said.arrow(), ids.arrow()))
        if not self._rest.shortlists:
            return owned
        named = Texts.plain(each.subscriber for each in self._rest.shortlists)
        return Texts.joined([named, owned])

    @cached_property
    def _policies(self) -> tuple[list[Policy], Ints]:
        """The different ones, and that of each shortlist."""
        known: dict[Policy, int] = {}
        named = [known.setdefault(each.policy, len(known)) for each in self._rest.shortlists]
        found = []
        for piece in self._pieces:
            read = [POLICY.validate_json(text) for text in piece["policies"]]
            numbers = [known.setdefault(each, len(known)) for each in read]
            found.append(np.array(numbers, np.int32)[piece["policy_of"]])
        every = np.concatenate([np.empty(0, np.int32), *found])
        owned = (every if self._order is None else every[self._order])[self._is_owner]
        every = np.append(np.array(named, np.int32), owned)
        used, firsts, places = np.unique(every, return_index=True, return_inverse=True)
        in_order, different = np.argsort(firsts), [*known]
        policies = [different[number] for number in used[in_order].tolist()]
        return policies, np.argsort(in_order)[places].astype(np.int32)

    def _combining(self, finds: bool) -> Parts:
        hows, sets = self._demands()
        is_many = self._members[self._homes] > 1
        ranks = np.zeros(self._homes.size, np.int32)
        if is_many.any():
            ranks[is_many] = self._ranks(is_many)
        level_of, has_level = self._levels()
        is_alone = ~is_many & ~np.isin(hows[self._homes], (HOWS["mean"], HOWS["sum"]))
        is_near = np.zeros(self._homes.size, np.bool_)
        if finds:
            is_near = is_alone & ~has_level & self._wants_nearest()
        return {
            "refreshes": self._by_number("refreshes"),
            "is_near": is_near,
            "members": {
                "shortlists": self._homes.astype(np.int32),
                "ranks": ranks,
                "weights": self._by_number("weights"),
                "levels": level_of,
            },
            "demands": {"hows": hows, "sets": sets},
            "most_members": int(self._members.max(initial=1)),
        }

    def _demands(self) -> tuple[Ints, Bools]:
        """How each shortlist with members combines, and whether its policy asks for sets."""
        named = [HOWS[each.combine] for each in self._rest.shortlists]
        owned = self._by_number("hows")[self._is_owner]
        hows = np.append(np.array(named, np.int32), owned).astype(np.int32)
        policies, policy_of = self._policies
        asks = np.array([asks_for_sets(policy) for policy in policies], np.bool_)
        sets = asks[policy_of] if policies else np.zeros(0, np.bool_)
        is_empty = self._members == 0
        hows[is_empty], sets[is_empty] = 0, False
        return hows, sets

    def _ranks(self, is_many: Bools) -> Longs:
        """The places of subscriptions among the members of their shortlists, by id."""
        names = self._texts("ids", is_many).arrow()
        homes = self._homes[is_many]
        order = pc.sort_indices(
            pa.table({"home": homes, "name": names}),
            sort_keys=[("home", "ascending"), ("name", "ascending")],
        ).to_numpy()
        sorted_homes = homes[order]
        firsts = np.flatnonzero(np.diff(sorted_homes, prepend=-1))
        ranks = np.empty(homes.size, np.int64)
        ranks[order] = np.arange(homes.size) - np.repeat(
            firsts, np.diff(np.append(firsts, homes.size))
        )
        return ranks

    def _levels(self) -> tuple[Ints, Bools]:
        """How far down preferences subscriptions stand, and which of them stand anywhere."""
        level_of = np.zeros(self._homes.size, np.int32)
        has_level = np.zeros(self._homes.size, np.bool_)
        for number, shortlist in enumerate(self._rest.shortlists):
            if shortlist.prefers and self._members[number]:
                who = np.flatnonzero(self._homes == number).tolist()
                names = {self._subscriptions.names[one]: one for one in who}
                for name, level in levels(shortlist.prefers, names).items():
                    level_of[names[name]], has_level[names[name]] = level, True
        return level_of, has_level

    @cached_property
    def _is_unconditional(self) -> Bools:
        has_condition: Bools = self._by_number("has_condition").astype(np.bool_)
        return ~has_condition

    def _wants_nearest(self) -> Bools:
        stored = self._scores.arrays
        is_distance = np.isin(stored.kinds[stored.templates], [int(kind) for kind in DISTANCES])
        wants: Bools = self._is_unconditional & is_distance & (stored.least == -np.inf)
        return wants

    @cached_property
    def _scores(self) -> StoredScores:
        scores = StoredScores(self._rest.vocabulary, self._limits)
        rows = [ScoreRows.of_saved(piece["scores"]) for piece in self._pieces]
        scores.reserve(self._homes.size, sum(each.parameters.size for each in rows))
        for first, each in zip(self._starts.tolist(), rows, strict=False):
            scores.put_all(first, each)
        if self._order is not None and self._places is not None:
            scores.reorder(self._order, self._places)
        return scores

    def _requests(self) -> SavedRequests:
        places, entered, before = [np.empty(0, np.int32)], [np.empty(0, np.int64)], 0
        for number, piece in enumerate(self._pieces):
            places.append(piece["request_of"] + np.int32(before))
            numbers = self._moved((piece["entered"] & (2**32 - 1)).astype(np.int64), number)
            entered.append(piece["entered"] >> 32 << 32 | numbers)
            before += len(piece["requests"])
        every = np.concatenate(places)
        return SavedRequests(
            _chained([piece["requests"] for piece in self._pieces]),
            every if self._order is None else every[self._order],
            NumberTable.holding(np.concatenate(entered)),
        )

    def _shelf(self) -> Shelf:
        total = int(self._starts[-1])
        shelf = Shelf()
        shelf.reserve(total)
        for number, piece in enumerate(self._pieces):
            size, some = self._sizes[number], piece["shelf"]
            here = self._moved(np.arange(size, dtype=np.int32), number)
            sharers = shelf.sharers
            sharers.following[here] = self._moved(some.sharers.following[:size], number)
            sharers.preceding[here] = self._moved(some.sharers.preceding[:size], number)
            homes = some.segment_of[:size]
            shelf.segment_of[here] = np.where(homes >= 0, homes + shelf.next, NOBODY)
            shelf.condition_of[here] = some.condition_of[:size]
            for place, held in some.held.items():
                heads = self._moved(held.heads, number)
                shelf.held[shelf.next + place] = Held(held.segment, heads, held.live)
            shelf.next += some.next
        unconditional = np.flatnonzero(self._is_unconditional).astype(np.int32)
        if unconditional.size:
            shelf.put_unconditional(unconditional)
        return shelf

    def _census(self) -> list[Any]:
        counts: Counter[tuple[Any, int]] = Counter()
        for piece in self._pieces:
            for path, asked, count in piece["census"]:
                counts[tuple(path), asked] += count
        return [[list(path), asked, count] for (path, asked), count in counts.items()]


def _chained(some: Sequence[Texts]) -> Texts:
    """All texts, one list after the other, where they lie."""
    data: Any = Chained.of([each.letters for each in some], np.uint8)
    return Texts(data, joined_offsets(some))


def _numbers_of(names: pa.LargeStringArray, among: Texts) -> Longs:
    found = pc.index_in(names, value_set=among.arrow()).fill_null(NOBODY)
    numbers: Longs = found.to_numpy().astype(np.int64)
    return numbers
