"""A registry as the wanted state of a deployment: what differs, and the commands that mend it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from shortlist.client.commands import Order, checked, effect
from shortlist.client.nouns import ENDS, MAKES, Noun, live_nouns, orders_for
from shortlist.intake.documents import Kind, brief, dump
from shortlist.intake.roster import Roster, owners_first
from shortlist.model.paths import format_path
from shortlist.model.problem import ShortlistError
from shortlist.model.registry import Registry
from shortlist.model.vocabulary import Vocabulary
from shortlist.model.wording import shown

Change = Literal["made", "changed", "made anew", "ended"]


class CannotApply(ShortlistError):
    """A wanted state that no commands lead to."""


class Difference(NamedTuple):
    """A noun that is not as it is wanted, and what makes it so."""

    kind: Kind
    id: str
    change: Change
    orders: list[Order]
    fields: tuple[str, ...] = ()
    """Of what is changed: which fields."""
    effect: str | None = None
    """What becomes of what its shortlist holds."""

    def document(self) -> dict[str, Any]:
        named = {"kind": self.kind, "id": self.id, "change": self.change}
        more = {"fields": [*self.fields], "effect": self.effect}
        return named | {name: value for name, value in more.items() if value}


class Plan(NamedTuple):
    """The way from a deployment to a wanted state, in an order that can be carried out."""

    differences: list[Difference]
    unchanged: int
    unlisted: int
    """Live nouns that the wanted state does not have, and that stay."""

    @property
    def orders(self) -> list[Order]:
        return [order for difference in self.differences for order in difference.orders]


def plan(live: Roster, vocabulary: Vocabulary, wanted: Registry, *, prune: bool = False) -> Plan:
    """What leads from a roster, which is used up, to a registry.

    With `prune` what the registry does not have is ended. `CannotApply` says what no command can
    change.

    >>> from shortlist.intake.files import registry_from_documents
    >>> wanted = registry_from_documents({"subscriptions": [{"id": "s", "where": "rent < 900"}]})
    >>> found = plan(Roster(), Vocabulary(), wanted)
    >>> [(each.id, each.change, each.orders[0].verb) for each in found.differences]
    [('s', 'made', 'subscribe')]
    """
    _check_vocabulary(vocabulary, wanted.vocabulary)
    return _Planning(live, vocabulary, wanted).plan(prune)


class _Planning:
    def __init__(self, roster: Roster, vocabulary: Vocabulary, wanted: Registry) -> None:
        self._roster = roster
        self._vocabulary = vocabulary
        self._wanted: dict[Kind, dict[str, Noun]] = {
            "shortlist": {made.id: made for made in wanted.shortlists},
            "subscription": {made.id: made for made in owners_first(wanted.subscriptions)},
            "advertisement": {made.id: made for made in wanted.advertisements},
        }
        self._before = {kind: {*live_nouns(roster, kind)} for kind in self._wanted}

    def plan(self, prune: bool) -> Plan:
        unlisted = [*self._unlisted()]
        ends = [*self._unfit(), *(unlisted if prune else ())]
        ended = [*filter(None, (self._ended(kind, name) for kind, name in ends))]
        differences: list[Difference] = []
        unchanged = 0
        for kind, nouns in self._wanted.items():
            for noun in nouns.values():
                difference = self._difference(kind, noun)
                if difference is None:
                    unchanged += 1
                else:
                    differences.append(difference)
        return Plan([*ended, *differences], unchanged, 0 if prune else len(unlisted))

    def _unlisted(self) -> Iterator[tuple[Kind, str]]:
        """Shortlists first: with them their subscriptions end."""
        for kind, nouns in self._wanted.items():
            for name in live_nouns(self._roster, kind):
                if name not in nouns and not (kind == "shortlist" and self._is_owned(name)):
                    yield kind, name

    def _unfit(self) -> Iterator[tuple[Kind, str]]:
        """Subscriptions that have to end before they, or a shortlist with their name, are made."""
        for name, live in self._roster.subscriptions.items():
            wanted = self._wanted["subscription"].get(name)
            has_moved = wanted is not None and dump(wanted)["shortlist"] != live.shortlist
            if has_moved or (live.shortlist is None and name in self._wanted["shortlist"]):
                yield "subscription", name

    def _is_owned(self, shortlist: str) -> bool:
        owner = self._roster.subscriptions.get(shortlist)
        return owner is not None and owner.shortlist is None

    def _ended(self, kind: Kind, name: str) -> Difference | None:
        """None where it has ended with its shortlist."""
        if name not in live_nouns(self._roster, kind):
            return None
        order = Order(f"{kind} {shown(name)}", ENDS[kind], name)
        self._carry_out(order)
        return Difference(kind, name, "ended", [order])

    def _difference(self, kind: Kind, noun: Noun) -> Difference | None:
        live = live_nouns(self._roster, kind).get(noun.id)
        orders = orders_for(self._roster, kind, noun)
        if not orders:
            return None
        effects = [self._carry_out(order) for order in orders]
        if live is None:
            change: Change = "made anew" if noun.id in self._before[kind] else "made"
            return Difference(kind, noun.id, change, orders)
        if orders[-1].verb == MAKES[kind]:
            return Difference(kind, noun.id, "made anew", orders)
        before, after = dump(live), dump(noun)
        fields = tuple(name for name, value in after.items() if value != before.get(name))
        return Difference(kind, noun.id, "changed", orders, fields, effects[-1])

    def _carry_out(self, order: Order) -> str | None:
        """In the roster; the effect on what a shortlist holds."""
        (command,) = checked([order], self._vocabulary)
        refusal = self._roster.refusal(command)
        if refusal is not None:
            raise CannotApply(f"{order.place}: {refusal}")
        said = effect(self._roster, command)
        self._roster.apply(command)
        return said


def _check_vocabulary(live: Vocabulary, wanted: Vocabulary) -> None:
    """The meaning of what is live stays as it is."""
    differing = [
        format_path(path)
        for path, attribute in wanted.attributes.items()
        if live.attributes.get(path) != attribute
    ]
    if differing:
        names = ", ".join(map(shown, differing))
        raise CannotApply(
            f"vocabulary: expected what the deployment has, found another declaration of {names}: a"
            " vocabulary cannot change while subscriptions are live; begin a new deployment"
        )


def as_written(roster: Roster, vocabulary: Vocabulary, name: str | None = None) -> dict[str, Any]:
    """What is live as a registry that could be applied: all of it, or what has a name and, of a
    shortlist, its subscriptions.

    >>> as_written(Roster(), Vocabulary())
    {}
    """
    registry = roster.registry(vocabulary)
    document = {
        "vocabulary": {
            format_path(path): brief(declared) for path, declared in vocabulary.attributes.items()
        }
        if name is None
        else {},
        "shortlists": [brief(made) for made in registry.shortlists if name in (None, made.id)],
        "subscriptions": [
            brief(made)
            for made in registry.subscriptions
            if name in (None, made.id, made.shortlist_id)
        ],
        "advertisements": [
            brief(made) for made in registry.advertisements if name in (None, made.id)
        ],
    }
    return {key: value for key, value in document.items() if value}
