"""Lines of a timeline: one JSON object each, a publication (it has an `id`) or a command."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from shortlist.intake.documents import Documents, Kind
from shortlist.intake.nested import without_nulls
from shortlist.intake.publications import (
    VERBS,
    BadItem,
    check_size,
    parse_json,
    publication_of,
    text_at,
    time_at,
    verbs_in,
)
from shortlist.language.permissive import with_any_terms
from shortlist.model import command as commands
from shortlist.model.command import Command, Item
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary
from shortlist.model.wording import shown

__all__ = ["VERBS", "BadItem", "ItemReader", "check_size", "parse_json"]

MAKING: dict[str, tuple[Kind, type[Any]]] = {
    "subscribe": ("subscription", commands.Subscribe),
    "open": ("shortlist", commands.Open),
    "advertise": ("advertisement", commands.Advertise),
}
"""The commands that bring a whole noun."""

NAMING: dict[str, tuple[Kind, type[Any]]] = {
    "unsubscribe": ("subscription", commands.Unsubscribe),
    "close": ("shortlist", commands.Close),
    "unadvertise": ("advertisement", commands.Unadvertise),
}
"""The commands that name one."""

OF_NOUNS = MAKING | NAMING

UPDATED: tuple[Literal["subscription", "shortlist"], ...] = ("subscription", "shortlist")
"""What can be updated."""

RELEASING: dict[str, Callable[..., Command]] = {"retry": commands.Retry, "drop": commands.Drop}
"""The commands of an operator, which name the position of something in quarantine."""

LINK_MARK = "shortlistlink"
"""What a site adds to a line that came over a link: publications and commands may carry it."""

LARGEST_POSITION = 2**63 - 1


class ItemReader:
    """Reads lines under one vocabulary: publications and, unless told otherwise, commands.

    Whether a subscription's terms exist depends on the commands before it: whoever carries it out
    finds out, unless this is told to check them by the vocabulary as it is. Of what was read
    before, without a problem, nouns are not judged `again`.

    >>> read = ItemReader(Vocabulary())
    >>> read.line('{"id": "p1", "source": "s", "time": "1970-01-01T00:00:01Z"}', position=4).time
    1000000
    >>> read.line('{"id": "p1"', position=5)
    Traceback (most recent call last):
        ...
    shortlist.intake.publications.BadItem: not JSON: column 12: Expecting ',' delimiter
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        limits: Limits | None = None,
        commands: bool = True,
        *,
        checks_terms: bool = False,
        again: bool = False,
    ) -> None:
        self._limits = limits or Limits()
        known = vocabulary if checks_terms else with_any_terms(vocabulary)
        self._documents = Documents(known, self._limits)
        self._commands = commands
        self._again = again

    def line(self, line: str | bytes, position: int, time: int | None = None) -> Item:
        """The item that a line holds, or `BadItem`; with a `time` it is of that time, whatever it
        says itself."""
        return self.document(parse_json(line, self._limits), position, time)

    def document(self, document: Any, position: int, time: int | None = None) -> Item:
        """The item that a JSON value describes, or `BadItem`; as `line`."""
        verbs = verbs_in(document) if self._commands else []
        if not verbs:
            return publication_of(document, position, time, self._limits)
        given = {name: value for name, value in document.items() if value is not None}
        return self._command(verbs, given, position, time)

    def _command(
        self, verbs: list[str], document: Mapping[str, Any], position: int, time: int | None
    ) -> Command:
        if len(verbs) > 1:
            raise BadItem(f"expected one command, found {' and '.join(verbs)}")
        verb = verbs[0]
        others = sorted(document.keys() - {"time", verb, LINK_MARK})
        if others:
            raise BadItem(f"{others[0]}: expected only time and {verb} in this command")
        when = time_at(document, "time") if time is None else time
        place = {"time": when, "position": position}
        if verb in OF_NOUNS:
            kind, command = OF_NOUNS[verb]
            if verb in MAKING:
                given = self._noun(kind, _object(document, verb))
            else:
                given = text_at(document, verb)
            made: Command = command(**{kind: given}, **place)
            return made
        if verb == "update":
            return _update(_object(document, verb), place)
        if verb == "define":
            return self._define(_object(document, verb), place)
        if verb == "retract":
            return _retract(_object(document, verb), place)
        if verb in RELEASING:
            return RELEASING[verb](quarantined=_position(document, verb), **place)
        if document[verb] is not True:
            raise BadItem(f"{verb}: expected true, found {shown(document[verb])}")
        return commands.Heartbeat(**place)

    def _noun(self, kind: Kind, content: Mapping[str, Any]) -> Any:
        if self._again:
            return self._documents.read_again(kind, without_nulls(content))
        noun = self._documents.read(kind, content)
        if noun is None:
            raise self._bad()
        return noun

    def _bad(self) -> BadItem:
        problems, self._documents.problems = self._documents.problems, []
        return BadItem("; ".join(map(str, problems)), problems)

    def _define(self, content: Mapping[str, Any], place: Mapping[str, int]) -> commands.Define:
        """An attribute keeps its type, so that it is known already which terms it can have."""
        others = sorted(content.keys() - {"attribute", "terms"})
        if others:
            raise BadItem(
                f"define: {others[0]}: expected only attribute and terms: what else is declared"
                " stays so as long as a deployment lives"
            )
        name = text_at(content, "attribute")
        terms = _object({"terms": content.get("terms")}, "terms")
        if not terms:
            raise BadItem("define: terms: expected a term, found none")
        given = {term: meaning for term, meaning in terms.items() if meaning is not None}
        read = self._documents.read_terms(name, given)
        if read is None:
            raise self._bad()
        path, known = read
        meanings = {term: known.get(term) for term in terms}
        return commands.Define(attribute=path, terms=meanings, **place)


def _update(content: Mapping[str, Any], place: Mapping[str, int]) -> commands.Update:
    """What the changes come to is found out where the live noun is known."""
    kinds = [kind for kind in UPDATED if content.get(kind) is not None]
    if len(kinds) != 1:
        found = " and ".join(kinds) or "neither"
        raise BadItem(f"update: expected a subscription or a shortlist, found {found}")
    kind = kinds[0]
    if "id" in content:
        raise BadItem("update: id: expected none, since ids do not change")
    changes = {name: value for name, value in content.items() if name not in UPDATED}
    if not changes:
        raise BadItem("update: expected a field to change, found none")
    return commands.Update(kind=kind, id=text_at(content, kind), changes=changes, **place)


def _retract(content: Mapping[str, Any], place: Mapping[str, int]) -> commands.Retract:
    others = sorted(content.keys() - {"source", "id"})
    if others:
        raise BadItem(f"retract: {others[0]}: expected only source and id")
    source, name = text_at(content, "source"), text_at(content, "id")
    return commands.Retract(source=source, publication=name, **place)


def _position(document: Mapping[str, Any], field: str) -> int:
    value = document[field]
    if type(value) is not int or not 0 < value <= LARGEST_POSITION:
        raise BadItem(f"{field}: expected the position of an entry, found {shown(value)}")
    return value


def _object(document: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    value = document[field]
    if not isinstance(value, dict):
        raise BadItem(f"{field}: expected an object, found {shown(value)}")
    return value
