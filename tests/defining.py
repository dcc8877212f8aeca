"""Timelines in which terms are defined, and the same without that, to draw.

What a `define` means is said by other commands alone: the vocabulary has each meaning of a term
under a name of its own from the start, and whoever asks for a term is updated to its next name.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from shortlist.intake.files import registry_from_documents
from shortlist.intake.lines import ItemReader
from shortlist.intake.roster import Roster, registry_commands
from shortlist.model.command import Command
from shortlist.model.times import format_time
from tests.strategies import SOURCES, Pick, command, instants, publication, recent, registry

Document = dict[str, Any]

CURVES: list[Any] = [
    {"trapezoid": [None, None, 2, 4]},
    {"trapezoid": [None, None, 2, 4], "shape": "linear"},
    {"trapezoid": [0, 1, 2, 6], "right": "gauss"},
    {"trapezoid": [3, 3, 4, 4]},
]
GRADES: list[Any] = [
    {"values": {"happy": 1, "calm": 0.4}},
    {"values": {"sad": 1, "calm": 0.4, "happy": 0.1}},
    {"values": {"calm": 1}},
]
MEANINGS = {"price": CURVES, "mood": GRADES, "size": [*CURVES, *GRADES]}
TERMS = {"price": ["cheap", "steep"], "mood": ["bright", "dark"], "size": ["large"]}
"""Some the vocabulary has at first, others not; nobody has declared the attribute `size`."""

CONDITIONS = [
    "price is cheap",
    "price is not very cheap (possibility >= 0.25)",
    "price is steep or mood is bright",
    "mood is bright",
    "not (mood is somewhat bright and price > 1)",
    "mood is dark",
    "size is large and price is cheap",
    "size is large",
]
VALUES = {
    "price": [{"term": "cheap"}, {"term": "steep"}],
    "mood": [{"term": "bright"}, {"term": "dark"}, "calm"],
    "size": [{"term": "large"}, "calm"],
}


def define(pick: Pick) -> Document:
    attribute = pick([*MEANINGS])
    names = [pick(TERMS[attribute]) for _ in range(pick([1, 2]))]
    terms = {name: pick([*MEANINGS[attribute], None]) for name in names}
    return {"attribute": attribute, "terms": terms}


def defining_registry(pick: Pick) -> Document:
    made = registry(pick)
    if not made["advertisements"] and pick([True, False]):
        made["advertisements"] = [{"id": "ad1", "source": pick(SOURCES), "k": pick([1, 2])}]
    for kind in ("subscriptions", "advertisements"):
        for noun in made[kind]:
            if pick([True, True, False]):
                noun["where"] = pick(["price is cheap", "mood is bright"])
                noun.pop("norm", None)
    return made


def defining_documents(pick: Pick, most: int = 30) -> list[Document]:
    """Publications, commands and definitions, in order of time."""
    made: list[Document] = []
    for number, micros in enumerate(sorted(instants(pick, pick(range(most + 1))))):
        kind = pick(["publication"] * 6 + ["command"] * 2 + ["define"] * 2)
        if kind == "define":
            made.append({"time": format_time(micros), "define": define(pick)})
        elif kind == "command":
            made.append(_commanding(pick, command(pick, micros, number)))
        else:
            made.append(publication(pick, micros, number))
            data = made[-1].get("data") or {}
            given = {name: pick(some) for name, some in VALUES.items() if pick([True, False])}
            made[-1]["data"] = data | given
            if pick([False] * 7 + [True]):
                made[-1]["replaces"] = recent(pick, number)
    return made


def _commanding(pick: Pick, document: Document) -> Document:
    for verb in ("subscribe", "advertise", "update"):
        noun = document.get(verb)
        is_asking = noun is not None and (verb != "update" or "subscription" in noun)
        if is_asking and pick([True, True, False]):
            # weights would have to be as many as predicates
            norm = {} if verb == "advertise" else {"norm": None}
            return {**document, verb: {**noun, "where": pick(CONDITIONS), **norm}}
    return document


def without_terms(documents: list[Document]) -> list[Document]:
    """The same, but no publication has a term for a value."""
    changed = []
    for each in documents:
        data = {
            name: "calm" if isinstance(value, dict) and "term" in value else value
            for name, value in (each.get("data") or {}).items()
        }
        changed.append({**each, "data": data} if "id" in each else each)
    return changed


def lines_of(documents: list[Document]) -> list[str]:
    return [json.dumps(document, ensure_ascii=False) for document in documents]


NAMES = {term: attribute for attribute, terms in TERMS.items() for term in terms}
WORD = re.compile(rf"\b({'|'.join(NAMES)})(_\d+)?\b")


class Renamed:
    """A registry and documents without definitions that come to the same.

    `origins` tells of each document which one it stands for.
    """

    def __init__(self, made: Document, documents: list[Document]) -> None:
        self._meanings: dict[str, list[Any]] = {name: [] for name in NAMES}
        self._now: dict[str, int | None] = dict.fromkeys(NAMES)
        for name, attribute in NAMES.items():
            known = made["vocabulary"].get(attribute, {}).get("terms", {})
            if name in known:
                self._define(name, known[name])
        first = dict(self._now)
        # all names that there will be are declared before anything is asked for
        for document in documents:
            for name, meaning in document.get("define", {}).get("terms", {}).items():
                if meaning is not None:
                    self._define(name, meaning)
        self._now = first
        self.registry = registry_from_documents(self._registry(made))
        self._roster = Roster(self.registry.vocabulary)
        for each in registry_commands(self.registry):
            self._roster.apply(each)
        self._reader = ItemReader(self.registry.vocabulary)
        self.documents: list[Document] = []
        self.origins: list[int] = []
        for place, document in enumerate(documents):
            for each in self._said(document):
                self.documents.append(each)
                self.origins.append(place)
                self._follow(each)

    def _define(self, name: str, meaning: Any) -> None:
        """A meaning that a term had already has a name; linear is what a shape is anyway."""
        plain = {
            key: value for key, value in meaning.items() if (key, value) != ("shape", "linear")
        }
        known = self._meanings[name]
        if plain not in known:
            known.append(plain)
        self._now[name] = known.index(plain)

    def _registry(self, made: Document) -> Document:
        vocabulary = {name: dict(declared) for name, declared in made["vocabulary"].items()}
        for name, meanings in self._meanings.items():
            declared = vocabulary.setdefault(NAMES[name], {})
            terms = {f"{name}_{number}": each for number, each in enumerate(meanings)}
            others = declared.get("terms", {})
            declared["terms"] = {each: others[each] for each in others if each not in NAMES} | terms
        nouns = {
            kind: [self._asking(noun) for noun in made[kind]]
            for kind in ("subscriptions", "advertisements")
        }
        return {**made, **nouns, "vocabulary": vocabulary}

    def _asking(self, noun: Any) -> Any:
        if isinstance(noun, dict) and isinstance(noun.get("where"), str):
            return {**noun, "where": self._text(noun["where"])}
        return noun

    def _text(self, where: str) -> str:
        """A condition with the present names."""
        return WORD.sub(lambda found: self._name(found[1]), where)

    def _name(self, term: str) -> str:
        number = self._now[term]
        return f"{term}_no_more" if number is None else f"{term}_{number}"

    def _said(self, document: Document) -> Iterator[Document]:
        if "id" in document:
            data = {
                name: {"term": self._name(value["term"])}
                if isinstance(value, dict) and value.get("term") in NAMES
                else value
                for name, value in (document.get("data") or {}).items()
            }
            yield {**document, "data": data}
        elif "define" in document:
            yield from self._defined(document["time"], document["define"]["terms"])
        else:
            yield {verb: self._asking(noun) for verb, noun in document.items()}

    def _defined(self, time: str, terms: Document) -> Iterator[Document]:
        if any(meaning is None and not self._can_go(name) for name, meaning in terms.items()):
            yield {"time": time, "close": "no such shortlist"}
            return
        for name, meaning in terms.items():
            if meaning is None:
                self._now[name] = None
            else:
                self._define(name, meaning)
        yield {"time": time, "heartbeat": True}
        for each in [*self._roster.subscriptions.values()]:
            if each.where is not None and self._text(each.where) != each.where:
                changes = {"subscription": each.id, "where": self._text(each.where)}
                yield {"time": time, "update": changes}
        for made in [*self._roster.advertisements.values()]:
            if made.where is not None and self._text(made.where) != made.where:
                yield {"time": time, "unadvertise": made.id}
                asked = {"source": made.source, "k": made.k, "score": made.score}
                again = {"id": made.id, "where": self._text(made.where), **asked}
                yield {"time": time, "advertise": again}

    def _can_go(self, term: str) -> bool:
        live = (*self._roster.subscriptions.values(), *self._roster.advertisements.values())
        is_used = any(self._name(term) in (each.where or "") for each in live)
        return self._now[term] is not None and not is_used

    def _follow(self, document: Document) -> None:
        item = self._reader.document(document, position=0)
        if isinstance(item, Command) and self._roster.refusal(item) is None:
            self._roster.apply(item)
