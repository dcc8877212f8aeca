"""The scores of subscriptions as arrays: the number of a template, a row of parameters.

Scores of one shape share a template: the same steps, each score with parameters of its own.
"""

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from shortlist.language.parser import parse_any_score
from shortlist.matching.arrays import Ints, Longs, with_length
from shortlist.matching.index.storage import Parts
from shortlist.model.paths import Path
from shortlist.model.remembering import Remembered
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.kernels.cosines import Posted
from shortlist.scoring.kernels.layout import Kind, Operation, Stored
from shortlist.scoring.numbers import Numbering, Spans
from shortlist.scoring.templates import Instruction, Parameter, ScoreRows, Template, Term, templated

Arrays = TypeVar("Arrays", Stored, Posted)
BY_NUMBER = ("templates", "starts", "least")
"""What is known of each subscription."""
NUMBERED = ("numbers", "texts", "vectors", "terms")
"""Attributes that scores ask for, by the type that they ask of them, and words of queries."""


class Postings:
    """For each term, known by a small number, the subscriptions that have it in their query.

    >>> postings = Postings()
    >>> postings.expect(1)
    >>> for subscription in (5, 3, 8):
    ...     postings.add(0, subscription, 1.0)
    >>> postings.remove(0, 5)
    >>> postings.arrays.subscriptions[postings.arrays.starts[0]:][:postings.arrays.counts[0]]
    array([8, 3], dtype=int32)
    """

    def __init__(self) -> None:
        self.arrays = Posted(
            np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1)
        )
        self._rooms = np.zeros(1, np.int32)
        self._spans = Spans()

    def expect(self, terms: int) -> None:
        """Numbers of terms are under this one, whether any subscription is listed there or not."""
        if terms <= self._rooms.size:
            return
        self._rooms = with_length(self._rooms, terms)
        self.arrays = _grown(self.arrays, starts=terms, counts=terms)

    def add(self, term: int, subscription: int, weight: float) -> None:
        if self.arrays.counts[term] == self._rooms[term]:
            self._move(term)
        starts, counts, subscriptions, weights = self.arrays
        place = starts[term] + counts[term]
        subscriptions[place], weights[place] = subscription, weight
        counts[term] += 1

    def remove(self, term: int, subscription: int) -> None:
        """The last one takes its place."""
        starts, counts, subscriptions, weights = self.arrays
        start, last = starts[term], starts[term] + counts[term] - 1
        place = start + np.argmax(subscriptions[start : last + 1] == subscription)
        subscriptions[place], weights[place] = subscriptions[last], weights[last]
        counts[term] -= 1
        if not counts[term]:
            self._spans.give_back(int(start), int(self._rooms[term]))
            self._rooms[term] = 0

    def renumber(self, places: Longs) -> None:
        """Gives subscriptions other numbers."""
        self.arrays.subscriptions[:] = places[self.arrays.subscriptions]

    def saved(self) -> Parts:
        spans = self._spans.saved()
        return {"arrays": self.arrays._asdict(), "rooms": self._rooms, "spans": spans}

    def load(self, saved: Parts) -> None:
        self.arrays, self._rooms = Posted(**saved["arrays"]), saved["rooms"]
        self._spans.load(saved["spans"])

    def _move(self, term: int) -> None:
        """To a place with twice the room, so that moving costs little in the long run."""
        start, count = int(self.arrays.starts[term]), int(self.arrays.counts[term])
        room = max(1, 2 * count)
        place = self._spans.take(room)
        self.arrays = _grown(self.arrays, subscriptions=self._spans.end, weights=self._spans.end)
        for array in (self.arrays.subscriptions, self.arrays.weights):
            array[place : place + count] = array[start : start + count]
        self.arrays.starts[term] = place
        if count:
            self._spans.give_back(start, count)
        self._rooms[term] = room


class StoredScores:
    """What subscriptions ask for; each is known by a small number.

    >>> scores = StoredScores(Vocabulary(), Limits())
    >>> for number, rent in enumerate((900, 1200)):
    ...     scores.add(number, Subscription(id=str(rent), score=f"{rent} - rent"))
    >>> scores.arrays.templates[:2], scores.arrays.parameters[:2]
    (array([0, 0], dtype=int32), array([ 900., 1200.]))
    """

    def __init__(self, vocabulary: Vocabulary, limits: Limits) -> None:
        self.vocabulary = vocabulary
        self._limits = limits
        self.templates: Numbering[Template] = Numbering()
        self.numbers: Numbering[Path] = Numbering()
        self.texts: Numbering[Path] = Numbering()
        self.vectors: Numbering[Path] = Numbering()
        self.terms: Numbering[Term] = Numbering()
        self.postings = Postings()
        self.depth = 1
        """How many numbers the score of any template has on the stack at most."""
        self.arrays = Stored(
            templates=np.zeros(1, np.int32),
            starts=np.zeros(1, np.int64),
            least=np.zeros(1),
            parameters=np.zeros(1),
            kinds=np.zeros(1, np.int32),
            code_starts=np.zeros(1, np.int64),
            code_ends=np.zeros(1, np.int64),
            code=np.zeros((1, 4), np.int64),
        )
        self._rows, self._code = Spans(), Spans()
        self._templated = Remembered(self._read)

    @property
    def introduced(self) -> int:
        """Templates, and so attributes, and terms that ever got a number: while it stays the same,
        numbers mean the same."""
        return self.templates.introduced + self.terms.introduced

    def templates_of(self, subscriptions: Ints) -> list[int]:
        """The different ones."""
        return np.flatnonzero(np.bincount(self.arrays.templates[subscriptions])).tolist()

    def add(self, number: int, subscription: Subscription) -> None:
        template, parameters = self._templated(subscription.score)
        row = [self.terms.take(item) if isinstance(item, Term) else item for item in parameters]
        self.postings.expect(len(self.terms))
        start = self._rows.take(len(row))
        if number >= self.arrays.templates.size or self._rows.end > self.arrays.parameters.size:
            self.reserve(number + 1, self._rows.end)
        least = subscription.at_least.score
        self.arrays.templates[number] = self._template(template)
        self.arrays.starts[number] = start
        self.arrays.least[number] = -math.inf if least is None else least
        self.arrays.parameters[start : start + len(row)] = row
        if template.kind is Kind.RELEVANCE:
            for term, weight in zip(row[1::2], row[2::2], strict=True):
                self.postings.add(int(term), number, weight)

    def reserve(self, subscriptions: int, parameters: int) -> None:
        """Makes room for so many."""
        room = dict.fromkeys(BY_NUMBER, subscriptions)
        self.arrays = _grown(self.arrays, **room, parameters=parameters)

    def reorder(self, order: Longs, places: Longs) -> None:
        """Gives all subscriptions other numbers: who had each before, and the new one of each."""
        arrays = {name: getattr(self.arrays, name)[order] for name in BY_NUMBER}
        self.arrays = self.arrays._replace(**arrays)
        self.postings.renumber(places)

    def put_all(self, first: int, rows: ScoreRows) -> None:
        """Adds the scores of subscriptions with numbers from one on."""
        uses = np.bincount(rows.template_of, minlength=len(rows.templates)).tolist()
        numbers = np.array(
            [self._template(*each) for each in zip(rows.templates, uses, strict=True)], np.int32
        )
        block, end = self._rows.take(rows.parameters.size), first + rows.template_of.size
        self.reserve(end, self._rows.end)
        starts = block + rows.offsets[:-1]
        self.arrays.templates[first:end] = numbers[rows.template_of]
        self.arrays.starts[first:end] = starts
        self.arrays.least[first:end] = rows.least
        self.arrays.parameters[block : self._rows.end] = rows.parameters
        for number, template in enumerate(rows.templates):
            if any(template.term_places):
                which = np.flatnonzero(rows.template_of == number)
                self._put_terms(first + which, starts[which], template, rows.terms)

    def _put_terms(
        self, numbers: Longs, starts: Longs, template: Template, terms: Sequence[Term]
    ) -> None:
        """Gives the terms of scores with one template the numbers that they have here."""
        parameters = self.arrays.parameters
        for place in template.term_places:
            named = parameters[starts + place].astype(np.int64)
            found = np.bincount(named, minlength=len(terms)).tolist()
            known = [
                self.terms.take(each, times) if times else 0
                for each, times in zip(terms, found, strict=True)
            ]
            parameters[starts + place] = np.array(known)[named]
        self.postings.expect(len(self.terms))
        if template.kind is Kind.RELEVANCE:
            for number, start in zip(numbers.tolist(), starts.tolist(), strict=True):
                for place in template.term_places:
                    term, weight = parameters[start + place : start + place + 2].tolist()
                    self.postings.add(int(term), number, weight)

    def remove(self, number: int) -> None:
        template = self.templates[self.arrays.templates[number]]
        start = int(self.arrays.starts[number])
        for place in template.term_places:
            term = int(self.arrays.parameters[start + place])
            if template.kind is Kind.RELEVANCE:
                self.postings.remove(term, number)
            self.terms.release(term)
        self._rows.give_back(start, template.width)
        self._release(int(self.arrays.templates[number]), template)

    def saved(self) -> Parts:
        return {
            "arrays": self.arrays._asdict(),
            "templates": self.templates.saved(),
            **{name: getattr(self, name).saved() for name in NUMBERED},
            "postings": self.postings.saved(),
            "depth": self.depth,
            "rows": self._rows.saved(),
            "code": self._code.saved(),
        }

    def load(self, saved: Parts) -> None:
        """Takes the place of what is there."""
        self.arrays = Stored(**saved["arrays"])
        self.templates.load(saved["templates"], Template.restored)
        for name in NUMBERED:
            getattr(self, name).load(saved[name])
        self.postings.load(saved["postings"])
        self.depth = saved["depth"]
        self._rows.load(saved["rows"])
        self._code.load(saved["code"])

    def _read(self, score: str | float | None) -> tuple[Template, tuple[Parameter, ...]]:
        return templated(parse_any_score(score, self._limits), self.vocabulary)

    def _template(self, template: Template, times: int = 1) -> int:
        introduced = self.templates.introduced
        number = self.templates.take(template, times)
        if self.templates.introduced > introduced:
            code = [
                (*self._code_of(instruction), place)
                for instruction, place in zip(template.instructions, template.places, strict=True)
            ]
            start = self._code.take(len(code))
            room = dict.fromkeys(("kinds", "code_starts", "code_ends"), number + 1)
            self.arrays = _grown(self.arrays, **room, code=self._code.end)
            self.arrays.kinds[number] = template.kind
            self.arrays.code_starts[number] = start
            self.arrays.code_ends[number] = start + len(code)
            self.arrays.code[start : start + len(code)] = code
            self.depth = max(self.depth, 1 + max(template.places))
        return number

    def _release(self, number: int, template: Template) -> None:
        if self.templates.release(number):
            start, end = self.arrays.code_starts[number], self.arrays.code_ends[number]
            for instruction, code in zip(
                template.instructions, self.arrays.code[start:end], strict=True
            ):
                if instruction.path:
                    self._attributes(instruction).release(int(code[1]))
            self._code.give_back(int(start), len(template.instructions))

    def _attributes(self, instruction: Instruction) -> Numbering[Path]:
        """Where the attribute of an instruction has its number: each type has its own."""
        typed = {Operation.RELEVANCE: self.texts, Operation.COSINE: self.vectors}
        return typed.get(instruction.operation, self.numbers)

    def _code_of(self, instruction: Instruction) -> tuple[int, int, int]:
        operation, path, size = instruction
        return operation, self._attributes(instruction).take(path) if path else 0, size


def _grown(arrays: Arrays, **lengths: int) -> Arrays:
    """The same with room for so many in each of some."""
    items = lengths.items()
    return arrays._replace(**{name: with_length(getattr(arrays, name), n) for name, n in items})
