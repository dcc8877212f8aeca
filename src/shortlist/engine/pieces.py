"""A piece of a registry, compiled on its own: subscriptions in order, with numbers from 0 on.

Whoever has all pieces joins them (`engine/joining.py`). What a piece has of shortlists is what its
subscriptions say of them, since others may be members of the same.
"""

import json
import math
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shortlist.engine.mentions import Mentions, Paths, asked_in
from shortlist.intake.columns import as_json
from shortlist.intake.documents import dump_policy
from shortlist.intake.entries import ABSENT, Entries
from shortlist.language.tree import Where
from shortlist.matching.arrays import Ints, Longs
from shortlist.matching.census import TypeCensus
from shortlist.matching.index.compiling import Compiling, Filled, Together
from shortlist.matching.index.numbering import entries_of
from shortlist.matching.index.segments import FULL, Shelf
from shortlist.matching.index.storage import Parts
from shortlist.matching.index.terms import Condition, Request, Terms, compiled_condition
from shortlist.matching.index.texts import Texts, encoded
from shortlist.model.policy import Policy
from shortlist.model.settings import Limits
from shortlist.model.subscription import EVERYTHING, Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.combined import HOWS, LONGEST, UNSET
from shortlist.scoring.templates import ScoreRows


class PieceCompiler:
    """Compiles pieces under one vocabulary.

    >>> from shortlist.intake.documents import Documents
    >>> from shortlist.intake.entries import EntryReader
    >>> from shortlist.intake.given import Given
    >>> flats = [{"id": f"s{rent}", "where": f"rent < {rent}"} for rent in range(20)]
    >>> read = EntryReader(Documents()).read(Given.of_documents(flats), lambda row: ("", None))
    >>> piece = PieceCompiler(Vocabulary(), Limits()).piece(read)
    >>> piece["ids"][3], len(piece["shelf"].held)
    ('s3', 1)
    """

    def __init__(self, vocabulary: Vocabulary, limits: Limits) -> None:
        self._terms = Terms(vocabulary, limits)
        self._compiling = Compiling(self._terms)

    def piece(self, entries: Entries, some: Longs | None = None) -> Parts:
        """What a shard has to know of all subscriptions that were read, or of some rows."""
        rows = np.arange(len(entries)) if some is None else some
        forms, form_of = entries.forms, entries.form_of[rows]
        vocabulary, limits = self._terms.vocabulary, self._terms.limits
        least = np.array([_least(form) for form in forms])[form_of]
        scores = entries.scores, entries.score_of[rows], least
        return {
            **self._columns(entries, some),
            "hows": np.array([HOWS[form.combine or "max"] for form in forms], np.int8)[form_of],
            "refreshes": np.array([_refresh(form) for form in forms], np.int64)[form_of],
            "weights": np.array([form.weight for form in forms], np.float64)[form_of],
            "has_condition": entries.conditions.condition_of[rows] != ABSENT,
            "scores": ScoreRows.of(*scores, vocabulary, limits)._asdict(),
            "census": self._census(entries, rows),
            **self._index(entries, rows),
        }

    def admission(self, entries: Entries) -> Parts:
        """What an admission has to know of all subscriptions that were read."""
        return {**self._columns(entries), "mentions": self.mentions(entries)}

    def _columns(self, entries: Entries, some: Longs | None = None) -> Parts:
        """What both shards and admissions have to know."""
        rows = np.arange(len(entries)) if some is None else some
        texts, (policies, policy_of) = entries.texts(), _policies(entries.forms)
        return {
            **columns_of(entries, some),
            "documents": texts if some is None else Texts.of_arrow(texts.arrow().take(rows)),
            "subscribers": _texts(entries.subscribers, rows),
            "policies": policies,
            "policy_of": policy_of[entries.form_of[rows]],
        }

    def _index(self, entries: Entries, rows: Longs) -> Parts:
        """What they ask, and the segments of it."""
        requests = _Requests.of(entries, rows, self._terms)
        shelf = Shelf()
        is_conditional = entries.conditions.condition_of[rows] != ABSENT
        numbers = np.flatnonzero(is_conditional).astype(np.int32)
        # those who ask the same stand together, in the order of what is asked
        numbers = numbers[np.argsort(requests.request_of[numbers], kind="stable")]
        asked = np.flatnonzero(is_conditional[requests.firsts])
        for at in range(0, asked.size, FULL):
            some = asked[at : at + FULL]
            segment, places = self._segment(entries, rows, requests, some)
            first, end = np.searchsorted(
                requests.request_of[numbers], [some[0], some[-1] + 1]
            ).tolist()
            members = numbers[first:end]
            which = np.searchsorted(some, requests.request_of[members])
            shelf.put(segment, members, places[which])
        unconditional = np.flatnonzero(~is_conditional).astype(np.int32)
        if unconditional.size:
            shelf.put_unconditional(unconditional)
        return {
            "requests": requests.texts,
            "request_of": requests.request_of,
            "entered": entries_of(requests.hashes, requests.firsts),
            "shelf": shelf,
        }

    def _segment(self, entries: Entries, rows: Longs, requests: "_Requests", some: Longs) -> Any:
        """A segment of some requests, and the place of each there."""
        known = entries.conditions
        firsts = rows[requests.firsts[some]]
        shapes = known.condition_of[firsts]
        is_plain = requests.is_plain[some] & (shapes < len(known.templates))
        together: list[Together] = []
        for shape in np.unique(shapes[is_plain]).tolist():
            template = known.templates[shape]
            assert template is not None
            these = np.flatnonzero(is_plain & (shapes == shape))
            if self._compiling.is_plain(template):
                among = np.searchsorted(known.rows, firsts[these])
                together.append(Together(template, these, known.parted.columns(among)))
            else:
                is_plain[these] = False
        conditions = {
            place: self._condition(
                requests.request(entries, int(firsts[place])), known.single(int(shapes[place]))
            )
            for place in np.flatnonzero(~is_plain).tolist()
        }
        return self._compiling.segment_of(conditions, together)

    def _condition(self, request: Request, where: Where | None) -> Condition:
        """Of a request whose condition was read already, or is like others."""
        if where is not None:
            return self._compiling.condition(where, request)
        read = self._compiling.read(request)
        assert read is not None
        if isinstance(read, Filled):
            filled = read.template.filled(read.literals)
            return compiled_condition(filled, self._terms.vocabulary)
        return read

    def _census(self, entries: Entries, rows: Longs) -> list[Any]:
        census = TypeCensus(self._terms.vocabulary, self._terms.limits)
        asked = entries.conditions.condition_of[rows]
        for number, count in _counted(asked[asked != ABSENT]):
            census.add_many(entries.conditions.outline(number), count)
        for number, count in _counted(entries.score_of[rows]):
            census.add_scores(entries.scores[number], count)
        return census.saved()

    def mentions(self, entries: Entries) -> dict[str, Any]:
        """Who mentions what; only admissions ask for it."""
        mentions = Mentions(self._terms.vocabulary, self._terms.limits)
        asked, scores = entries.conditions.condition_of, entries.score_of
        sets: dict[Paths, int] = {Paths(): 0}
        of_condition = np.zeros(int(asked.max(initial=0)) + 2, np.int64)
        for number, _ in _counted(asked[asked != ABSENT]):
            found = asked_in(entries.conditions.outline(number))
            of_condition[number] = sets.setdefault(found, len(sets))
        of_score = np.zeros(len(entries.scores), np.int64)
        for number, _ in _counted(scores):
            found = mentions.of_score(entries.scores[number])
            of_score[number] = sets.setdefault(found, len(sets))
        every = [*sets]
        for both, count in _counted(of_condition[asked] * len(every) + of_score[scores]):
            one, other = divmod(both, len(every))
            mentions.count(every[one] | every[other], count)
        owns = np.array([home is None for home in entries.shortlists], np.bool_)
        for form, count in enumerate(np.bincount(entries.form_of[owns]).tolist()):
            if count:
                mentions.count_policy(entries.forms[form].policy or EVERYTHING, count)
        return mentions.saved()


def _policies(forms: Sequence[Subscription]) -> tuple[list[str], Ints]:
    """The different policies of forms, and that of each form."""
    known: dict[Policy, int] = {}
    found = [known.setdefault(form.policy or EVERYTHING, len(known)) for form in forms]
    return [as_json(dump_policy(policy)) for policy in known], np.array(found, np.int32)


class _Requests(NamedTuple):
    """The different requests of rows, in order of the first who asks."""

    firsts: Longs
    request_of: Ints
    is_plain: Any
    """Whether degrees may be left alone."""
    hashes: Any
    texts: Texts
    asked: list[Request]
    """By form, without a condition."""

    @classmethod
    def of(cls, entries: Entries, rows: Longs, terms: Terms) -> "_Requests":
        asked = [terms.request(form) for form in entries.forms]
        known: dict[Request, int] = {}
        kinds = np.array([known.setdefault(each, len(known)) for each in asked], np.int64)
        wheres = taken(entries.wheres, rows).dictionary_encode()
        codes = wheres.indices.fill_null(-1).to_numpy().astype(np.int64) + 1
        codes += kinds[entries.form_of[rows]] * (len(wheres.dictionary) + 1)
        _, firsts, request_of = np.unique(codes, return_index=True, return_inverse=True)
        order = np.argsort(firsts)
        firsts, rank = firsts[order], np.empty_like(order)
        rank[order] = np.arange(order.size)
        of_first = kinds[entries.form_of[rows[firsts]]].tolist()
        requests = [*known]
        texts, found = [], []
        suffixes = [request.text.removeprefix("[null") for request in requests]
        prefixes = [f"{each.possibility} {each.necessity} {each.norm} " for each in requests]
        for row, kind in zip(rows[firsts].tolist(), of_first, strict=True):
            where = entries.wheres[row]
            texts.append(f"[{json.dumps(where)}{suffixes[kind]}")
            found.append(_hash(f"{prefixes[kind]}{where}"))
        is_plain = np.array([request.is_plain for request in requests], np.bool_)
        return cls(
            firsts,
            rank[request_of].astype(np.int32),
            is_plain[of_first],
            np.frombuffer(b"".join(found), np.uint64),
            Texts.plain(texts),
            asked,
        )

    def request(self, entries: Entries, row: int) -> Request:
        """Of a row that is the first to ask."""
        form = int(entries.form_of[row])
        return self.asked[form]._replace(where=entries.wheres[row])


def columns_of(entries: Entries, some: Longs | None = None) -> Parts:
    """Who subscriptions are, whatever may be wrong with them."""
    rows = np.arange(len(entries)) if some is None else some
    ids = taken(entries.ids, rows).fill_null("")
    return {
        "ids": Texts.of_arrow(ids),
        "hashes": hashes(ids),
        "shortlists": _texts(entries.shortlists, rows),
    }


def _texts(column: Sequence[str | None], rows: Longs) -> Texts:
    return Texts.of_arrow(taken(column, rows).fill_null(""))


def taken(column: Sequence[str | None], rows: Longs) -> pa.LargeStringArray:
    found = pa.array(column, pa.large_string())
    return found if rows.size == len(column) else found.take(pa.array(rows))


def hashes(names: pa.LargeStringArray) -> Any:
    """Those that tables know texts by."""
    found = [_hash(name) for name in names.to_pylist()]
    return np.frombuffer(b"".join(found), np.uint64)


def _hash(text: str) -> bytes:
    """As `stable_hash`, which keeps what it has found."""
    return blake2b(encoded(text), digest_size=8).digest()


def _refresh(form: Subscription) -> int:
    return UNSET if form.refresh is None else min(form.refresh, LONGEST)


def _least(form: Subscription) -> float:
    return -math.inf if form.at_least.score is None else form.at_least.score


def _counted(column: Ints) -> Iterable[tuple[int, int]]:
    """The different numbers, and how often each is there."""
    numbers, counts = np.unique(column, return_counts=True)
    return zip(numbers.tolist(), counts.tolist(), strict=True)
