"""A registry as the wanted state of a deployment: what differs, and the commands that mend it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from shortlist.client.commands import Order, checked, effect
from shortlist.client.nouns import ENDS, MAKES, Noun, live_nouns, orders_for
from shortlist.intake.defining import changed_terms
from shortlist.intake.documents import Kind, brief, dump
from shortlist.intake.roster import Roster, owners_first
from shortlist.model.paths import Path, format_path
from shortlist.model.problem import ShortlistError
from shortlist.model.registry import Registry
from shortlist.model.vocabulary import Term
from shortlist.model.wording import shown

Change = Literal["made", "changed", "made anew", "ended"]


class CannotApply(ShortlistError):
    """A wanted state that no commands lead to."""


class Difference(NamedTuple):
    """A noun or a term that is not as it is wanted, and what makes it so."""

    kind: Kind | Literal["term"]
    id: str
    """Of a term as conditions have it: rent is cheap."""
    change: Change
    orders: list[Order]
    fields: tuple[str, ...] = ()
    """Of a noun that is changed: which fields."""
    effect: str | None = None
    """What becomes of what its shortlist holds; of a term, who changes its meaning."""

    def document(self) -> dict[str, Any]:
        named = {"kind": self.kind, "id": self.id, "change": self.change}
        more = {"fields": [*self.fields], "effect": self.effect}
        return named | {name: value for name, value in more.items() if value}


class Plan(NamedTuple):
    """The way from a deployment to a wanted state, in an order that can be carried out."""

    differences: list[Difference]
    unchanged: int
    unlisted: int
    """Live nouns and terms that the wanted state does not have, and that stay."""

    @property
    def orders(self) -> list[Order]:
        return [order for difference in self.differences for order in difference.orders]


def plan(live: Roster, wanted: Registry, *, prune: bool = False) -> Plan:
    """What leads from a roster, which is used up, to a registry.

    With `prune` what the registry does not have is ended. `CannotApply` says what no command can
    change: of a vocabulary all but terms.

    >>> from shortlist.intake.files import registry_from_documents
    >>> wanted = registry_from_documents({"subscriptions": [{"id": "s", "where": "rent < 900"}]})
    >>> found = plan(Roster(), wanted)
    >>> [(each.id, each.change, each.orders[0].verb) for each in found.differences]
    [('s', 'made', 'subscribe')]
    """
    differing = [
        format_path(path)
        for path, attribute in wanted.vocabulary.attributes.items()
        if replace(live.vocabulary.of(path), terms={}) != replace(attribute, terms={})
    ]
    if differing:
        names = ", ".join(map(shown, differing))
        raise CannotApply(
            f"vocabulary: expected what the deployment has, found another declaration of {names}:"
            " terms change while a deployment lives, and nothing else; begin a new deployment"
        )
    return _Planning(live, wanted).plan(prune)


class _Planning:
    def __init__(self, roster: Roster, wanted: Registry) -> None:
        self._roster = roster
        self._vocabulary = wanted.vocabulary
        self._wanted: dict[Kind, dict[str, Noun]] = {
            "shortlist": {made.id: made for made in wanted.shortlists},
            "subscription": {made.id: made for made in owners_first(wanted.subscriptions)},
            "advertisement": {made.id: made for made in wanted.advertisements},
        }
        self._before = {kind: {*live_nouns(roster, kind)} for kind in self._wanted}

    def plan(self, prune: bool) -> Plan:
        """Terms that somebody may ask for come first, and those that nobody may any more last."""
        terms = [*self._defined()]
        unlisted, surplus = [*self._unlisted()], [*self._surplus()]
        ends = [*self._unfit(), *(unlisted if prune else ())]
        ended = [*filter(None, (self._ended(kind, name) for kind, name in ends))]
        wanted = [(kind, noun) for kind, some in self._wanted.items() for noun in some.values()]
        differences = [*filter(None, (self._difference(kind, noun) for kind, noun in wanted))]
        unchanged = len(wanted) - len(differences)
        if prune:
            gone = [self._term(path, name, None, "ended") for path, name in surplus]
            return Plan([*terms, *ended, *differences, *gone], unchanged, 0)
        return Plan([*terms, *ended, *differences], unchanged, len(unlisted) + len(surplus))

    def _defined(self) -> Iterator[Difference]:
        """Terms that are new, or mean something else."""
        live = self._roster.vocabulary
        for path, attribute in self._vocabulary.attributes.items():
            for name, term in attribute.terms.items():
                known = live.of(path).terms
                if name not in known:
                    yield self._term(path, name, term, "made")
                elif changed_terms(known, {name: term}):
                    yield self._term(path, name, term, "changed")

    def _surplus(self) -> Iterator[tuple[Path, str]]:
        """Terms that are live and not wanted."""
        for path, attribute in self._roster.vocabulary.now().attributes.items():
            wanted = self._vocabulary.of(path).terms
            yield from ((path, name) for name in attribute.terms if name not in wanted)

    def _term(self, path: Path, name: str, term: Term | None, change: Change) -> Difference:
        attribute = format_path(path)
        said = f"{attribute} is {name}"
        content = {"attribute": attribute, "terms": {name: term and brief(term)}}
        order = Order(f"term {shown(said)}", "define", content)
        concerns = self._carry_out(order)
        return Difference(
            "term", said, change, [order], effect=concerns if change == "changed" else None
        )

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
        (command,) = checked([order], self._roster.vocabulary)
        refusal = self._roster.refusal(command)
        if refusal is not None:
            raise CannotApply(f"{order.place}: {refusal}")
        said = effect(self._roster, command)
        self._roster.apply(command)
        return said


def as_written(roster: Roster, name: str | None = None) -> dict[str, Any]:
    """What is live as a registry that could be applied: all of it, or what has a name and, of a
    shortlist, its subscriptions.

    >>> as_written(Roster())
    {}
    """
    registry = roster.registry()
    document = {
        "vocabulary": {
            format_path(path): brief(declared)
            for path, declared in registry.vocabulary.attributes.items()
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
