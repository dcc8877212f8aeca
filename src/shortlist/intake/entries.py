"""Subscriptions in bulk: what many documents share is read once, and no noun is made for each.

Whatever is not like something that was read already goes through the one reader of documents,
which has the rules and the words.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shortlist.intake.columns import as_json
from shortlist.intake.documents import Documents, brief, labelled
from shortlist.intake.files import text_or_none
from shortlist.intake.given import OWN, Given
from shortlist.intake.sizes import aspects_in, most_mentions
from shortlist.language.errors import LanguageError
from shortlist.language.templates import Template, Templates
from shortlist.language.tree import Where
from shortlist.matching.arrays import Bools, Ints, Longs
from shortlist.matching.index.parted import PartedTexts, texts_of
from shortlist.matching.index.texts import Texts
from shortlist.model.problem import Problem
from shortlist.model.subscription import Subscription

T = TypeVar("T")
Place = Callable[[int], tuple[str, int | None]]
"""Where the document of a row stands: a file, or a line of it, and a number in its list."""

ABSENT = -1
SPECIAL = '["\\\\\\x00-\\x1f]'
"""Characters that JSON writes in another way."""
BEFORE_SUBSCRIBER = ("weight", "norm", "at_least", "refresh", "profile")
CHECKED = {"score": None, "where": None}
"""In the place of what was looked at already."""
AFTER_SUBSCRIBER = ("policy", "combine")


@dataclass(slots=True)
class Conditions:
    """What subscriptions ask, row by row."""

    rows: Longs
    """Those that have a condition."""
    parted: PartedTexts
    """Of these rows."""
    templates: list[Template | None]
    """By shape; None where each text of it is read on its own."""
    condition_of: Ints
    """By row: a shape, or behind these one of `singles`, or absent."""
    singles: list[Where | None]
    """Those that are read on their own; None where they are wrong."""

    def single(self, number: int) -> Where | None:
        """What a condition says, if it was read on its own and is right."""
        place = number - len(self.templates)
        return self.singles[place] if place >= 0 else None

    def outline(self, number: int) -> Where:
        """What a condition that is right says, perhaps with other literals."""
        template = self.templates[number] if number < len(self.templates) else None
        where = self.single(number) if template is None else template.where
        assert where is not None
        return where

    def is_wrong(self) -> Bools:
        """By row. What is the matter with literals alone shows in those that stand alone."""
        wrong = [number for number, where in enumerate(self.singles) if where is None]
        return np.isin(self.condition_of, len(self.templates) + np.array(wrong, np.int32))


@dataclass(slots=True)
class Entries:
    """Subscriptions that were read. If there is any problem, only ids and shortlists are of use."""

    ids: list[str | None]
    shortlists: list[str | None]
    """Those that they name."""
    subscribers: list[str | None]
    wheres: list[str | None]
    conditions: Conditions
    scores: list[str | float | None]
    """Different ones."""
    score_of: Ints
    forms: list[Subscription]
    """What subscriptions have beside what is their own."""
    form_of: Ints
    problems: list[tuple[int, Problem]] = field(default_factory=list)
    """With the rows that have them."""
    labels: dict[int, str] = field(default_factory=dict)
    """How those rows are named that have no id."""

    def __len__(self) -> int:
        return self.form_of.size

    def texts(self) -> Texts:
        """The documents of all of them as JSON, as `registry_text` has them."""
        size = len(self)
        score_texts = ["" if one is None else f',"score":{as_json(one)}' for one in self.scores]
        documents = [brief(form) for form in self.forms]
        columns = [
            _quoted('{"id":', self.ids),
            _quoted(',"shortlist":', self.shortlists),
            _quoted(',"where":', self.wheres),
            _taken(score_texts, self.score_of),
            _taken([_fields(each, BEFORE_SUBSCRIBER) for each in documents], self.form_of),
            _quoted(',"subscriber":', self.subscribers),
            _taken([_fields(each, AFTER_SUBSCRIBER) for each in documents], self.form_of),
            pa.array(["}"], pa.large_string()).take(pa.array(np.zeros(size, np.int64))),
        ]
        return Texts.of_arrow(pc.binary_join_element_wise(*columns, _large("")))


def _large(text: str) -> pa.Scalar:
    return pa.scalar(text, pa.large_string())


def _quoted(before: str, column: list[str | None]) -> pa.Array:
    """Texts as JSON behind something, nothing for none."""
    values = pa.array(column, pa.large_string())
    if values.null_count == len(values):
        return pc.fill_null(values, "")
    if pc.any(pc.match_substring_regex(values, SPECIAL)).as_py():
        written = [None if text is None else before + as_json(text) for text in column]
        return pc.fill_null(pa.array(written, pa.large_string()), "")
    written = pc.binary_join_element_wise(_large(f'{before}"'), values, _large('"'), _large(""))
    return pc.fill_null(written, "")


def _taken(texts: list[str], which: Ints) -> pa.Array:
    return pa.array(texts, pa.large_string()).take(pa.array(which))


def _fields(document: dict[str, Any], names: Iterable[str]) -> str:
    known = {name: document[name] for name in names if name in document}
    return f",{as_json(known)[1:-1]}" if known else ""


class EntryReader:
    """Reads subscriptions under one vocabulary.

    >>> some = [{"id": "a", "where": "rent < 900"}, {"id": "b", "where": "rent <"}]
    >>> read = EntryReader(Documents()).read(Given.of_documents(some), lambda row: ("a file", None))
    >>> print(read.problems[0][1])
    a file: subscription 'b': where: column 7: expected a value (a number, a string in single \
quotes, true, false or time '…') after '<', found the end of the text
    >>> read = EntryReader(Documents()).read(Given.of_documents(some[:1]), lambda row: ("", None))
    >>> read.texts()[0]
    '{"id":"a","where":"rent < 900"}'
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._templates = Templates(documents.vocabulary, documents.limits)

    def read(self, given: Given, place: Place) -> Entries:
        own = {name: [*given.own[name]] for name in OWN}
        conditions = self._conditions(own["where"])
        scores, score_of = _numbered(own["score"])
        forms, form_of = [Subscription(id="")] * len(given.rests), given.rest_of.copy()
        is_bad_score = [self._read({"id": "any", "score": score}) is None for score in scores]
        is_bad = np.array(is_bad_score, np.bool_)[score_of] | conditions.is_wrong()
        is_bad[[*given.odd]] = True
        is_bad |= self._may_be_too_large(given, own)
        has_norm = np.array(["norm" in rest for rest in given.rests], np.bool_)
        for row, rows in self._alike(given, own, conditions.condition_of, has_norm):
            checked = {"score": None} if has_norm[given.rest_of[row]] else CHECKED
            noun = self._read({**given.document(row), **checked})  # type: ignore[dict-item]
            if noun is None:
                is_bad[rows] = True
            else:
                forms[form_of[row]] = _form(noun)
        problems: list[tuple[int, Problem]] = []
        labels: dict[int, str] = {}
        for row in np.flatnonzero(is_bad).tolist():
            document = given.document(row)
            file, number = place(row)
            noun = self._documents.read("subscription", document, number)
            problems += [(row, problem.within(file=file)) for problem in self._documents.problems]
            self._documents.problems.clear()
            known = document if isinstance(document, dict) else {}
            own["id"][row], own["shortlist"][row] = (
                text_or_none(known.get(name)) for name in ("id", "shortlist")
            )
            if own["id"][row] is None:
                labels[row] = labelled("subscription", document, number)
            if noun is not None:  # it is odd, but there is nothing wrong with it
                form_of[row] = len(forms)
                forms.append(_form(noun))
                for name in OWN:
                    own[name][row] = getattr(noun, name)
        if given.odd and not problems:
            conditions = self._conditions(own["where"])
            scores, score_of = _numbered(own["score"])
        return Entries(
            ids=own["id"],
            shortlists=own["shortlist"],
            subscribers=own["subscriber"],
            wheres=own["where"],
            conditions=conditions,
            scores=scores,
            score_of=score_of,
            forms=forms,
            form_of=form_of,
            problems=problems,
            labels=labels,
        )

    def _may_be_too_large(self, given: Given, own: dict[str, list[Any]]) -> Bools:
        """Return for each row whether a limit may be crossed by what rows do not share; the reader
        of documents finds out."""
        limits = self._documents.limits
        is_large = np.zeros(len(own["id"]), np.bool_)
        for name in ("id", "shortlist", "subscriber"):
            is_large |= _lengths(own[name]) > limits.id_length
        over = np.array([aspects_in(rest.get("policy")) for rest in given.rests], np.int64)
        mentions = most_mentions(_lengths(own["where"]) + _lengths(own["score"]))
        is_large |= mentions + over[given.rest_of] > limits.mentions
        return is_large

    def _conditions(self, wheres: list[str | None]) -> Conditions:
        rows = np.array([row for row, text in enumerate(wheres) if text is not None], np.int64)
        texts = [text for text in wheres if text is not None]
        parted, longest = PartedTexts.of(texts_of(texts)), self._documents.limits.expression_length
        templates: list[Template | None] = [None] * len(parted.shapes)
        shapes, firsts, counts = np.unique(parted.shape_of, return_index=True, return_counts=True)
        for shape, first in zip(shapes[counts > 1].tolist(), firsts[counts > 1], strict=True):
            if shape >= 0:
                templates[shape] = _or_none(self._templates.template, texts[first])
        is_known = np.array([*(each is not None for each in templates), False], np.bool_)
        is_single = ~is_known[parted.shape_of] | parted.is_longer(longest)
        condition_of = np.full(len(wheres), ABSENT, np.int32)
        condition_of[rows] = parted.shape_of
        known: dict[str, int] = {}
        for at in np.flatnonzero(is_single).tolist():
            condition_of[rows[at]] = len(templates) + known.setdefault(texts[at], len(known))
        singles = [_or_none(self._templates.parse, text) for text in known]
        return Conditions(rows, parted, templates, condition_of, singles)

    def _read(self, document: object) -> Subscription | None:
        """What a document says if nothing is wrong with it."""
        noun: Subscription | None = self._documents.read("subscription", document)
        self._documents.problems.clear()
        return noun

    def _alike(
        self, given: Given, own: dict[str, list[Any]], condition_of: Ints, has_norm: Bools
    ) -> Iterator[tuple[int, Longs]]:
        """Rows that are right, or wrong, together, whatever their scores, and their conditions
        where nothing has to go with these: the first one of them, and all."""
        has_home = np.array([name is not None for name in own["shortlist"]], np.int64)
        has_subscriber = np.array([name is not None for name in own["subscriber"]], np.int64)
        asked = np.where(has_norm[given.rest_of], condition_of + 1, 0)
        kinds = (given.rest_of * (asked.max(initial=0) + np.int64(1)) + asked) * 4
        kinds += 2 * has_home + has_subscriber
        kinds[[*given.odd]] = ABSENT
        order = np.argsort(kinds, kind="stable")[len(given.odd) :]
        starts = np.flatnonzero(np.diff(kinds[order], prepend=ABSENT))
        for rows in np.split(order, starts[1:]) if order.size else ():
            yield int(rows[0]), rows


def _or_none(read: Callable[[str], T], text: str) -> T | None:
    try:
        return read(text)
    except LanguageError:
        return None


def _lengths(texts: Iterable[object]) -> Longs:
    return np.array([len(text) if type(text) is str else 0 for text in texts], np.int64)


def _form(noun: Subscription) -> Subscription:
    return replace(noun, id="", shortlist=None, where=None, score=None, subscriber=None)


def _numbered(scores: list[str | float | None]) -> tuple[list[str | float | None], Ints]:
    """The different ones, as nouns have them, and which of them each is."""
    known: dict[str, int] = {}
    different: list[str | float | None] = []
    score_of = np.empty(len(scores), np.int32)
    for row, score in enumerate(scores):
        given = score if score is None or type(score) is str else float(score)
        key = given if type(given) is str else f" {given!r}"
        number = known.setdefault(key, len(different))
        if number == len(different):
            different.append(given)
        score_of[row] = number
    return different, score_of
