"""Routes for shortlists, subscriptions, advertisements and terms as resources."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Annotated, Any, cast

from fastapi import APIRouter, Path, Query, Response

from shortlist.client.commands import Order, checked, effect
from shortlist.client.keys import Holder
from shortlist.client.nouns import (
    ENDS,
    Noun,
    live_noun,
    live_nouns,
    nouns_of,
    orders_for,
    owner_of,
    read_noun,
)
from shortlist.intake.defining import Users, defined
from shortlist.intake.documents import Kind, dump
from shortlist.intake.roster import Roster
from shortlist.intake.written import registry_document
from shortlist.model.advertisement import Advertisement
from shortlist.model.command import Define
from shortlist.model.registry import Registry
from shortlist.model.wording import shown
from shortlist.service.access import check_publisher, check_role, may_see
from shortlist.service.problems import Refused
from shortlist.service.state import Body, Caller, Here, Service, body_schema

router = APIRouter()
Name = Annotated[str, Path(min_length=1, max_length=1000)]
MOST_NAMED = 100
"""Of each kind that change their meaning with a term."""


@dataclass(frozen=True, slots=True)
class Resource:
    """The nouns of one kind, for whoever calls."""

    kind: Kind
    service: Service
    caller: Holder

    def check(self, roster: Roster, noun: Noun, *, is_live: bool) -> None:
        """Whether the caller may see and change it; of others' nobody learns that they exist."""
        if isinstance(noun, Advertisement):
            check_publisher(self.caller, noun.source)
        elif not may_see(self.caller, owner_of(roster, noun)):
            check_role(self.caller, "subscriber")
            if is_live:
                raise Refused(404, f"there is no live {self.kind} {shown(noun.id)}")
            whose = f"expected a {self.kind} of {self.caller.owner!r}, which this key is for"
            raise Refused(403, whose)

    def live(self, roster: Roster, name: str) -> Noun:
        noun = live_noun(roster, self.kind, name)
        self.check(roster, noun, is_live=True)
        return noun

    def may_change(self, roster: Roster, noun: Noun) -> bool:
        """Whether the caller may see and change what is live."""
        try:
            self.check(roster, noun, is_live=True)
        except Refused:
            return False
        return True

    def _owned(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """What a subscriber makes is its own, unless it says otherwise."""
        owner = self.caller.owner if self.caller.role == "subscriber" else None
        is_own = self.kind == "shortlist" or (
            self.kind == "subscription" and document.get("shortlist") is None
        )
        if owner is not None and is_own and document.get("subscriber") is None:
            return {**document, "subscriber": owner}
        return dict(document)

    def prepared(self, document: Mapping[str, Any]) -> tuple[list[Order], str | None]:
        """The commands that lead to the noun that a document describes; and, if they change it,
        what that does to what its shortlist holds."""

        def asked(roster: Roster) -> tuple[list[Order], str | None]:
            limits = self.service.options.limits
            noun = read_noun(self.kind, self._owned(document), roster.vocabulary, limits)
            self.check(roster, noun, is_live=False)
            before = live_nouns(roster, self.kind).get(noun.id)
            if before is not None and not self.may_change(roster, before):
                raise Refused(409, f"expected a name that is free, found {shown(noun.id)} in use")
            orders = orders_for(roster, self.kind, noun)
            commands = checked(orders, roster.vocabulary)
            return orders, effect(roster, commands[0]) if len(commands) == 1 else None

        return self.service.registry.ask(asked)


async def carry_out(
    service: Service, orders: list[Order], name: str, effect: str | None = None
) -> dict[str, Any]:
    """Sends commands, if any are needed, and waits for what becomes of them."""
    if not orders:
        return {"id": name, "effect": "it is so already"}
    for verdict in await service.carry_out(orders):
        if verdict.rejected is not None:
            raise Refused(409, verdict.rejected, offset=verdict.offset)
    answer: dict[str, Any] = {"id": name, "offset": verdict.offset}
    return answer if effect is None else {**answer, "effect": effect}


def add_routes(kind: Kind, path: str, tag: str) -> None:
    """The routes of one kind of noun."""

    @router.get(path, tags=[tag], name=f"list_{kind}s")
    def listed(
        service: Here,
        caller: Caller,
        subscriber: Annotated[str | None, Query(description="Only of this subscriber.")] = None,
        policy: Annotated[str | None, Query(description="Only with this policy.")] = None,
        after: Annotated[str, Query(description="Behind this id.")] = "",
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> dict[str, Any]:
        """Those that are live and yours to see, in order of their ids."""
        resource = Resource(kind, service, caller)
        check_role(caller, "publisher" if kind == "advertisement" else "subscriber")

        # the names of others are not even looked at
        own = subscriber if caller.is_operator or kind == "advertisement" else caller.owner

        def found(roster: Roster) -> list[Noun]:
            if subscriber not in (None, own):
                return []
            nouns = nouns_of(roster, kind, own, policy, after)
            seen = (noun for noun in nouns if resource.may_change(roster, noun))
            return [*islice(seen, limit + 1)]

        nouns = service.registry.ask(found)
        following = nouns[limit - 1].id if len(nouns) > limit else None
        return {"items": [dump(noun) for noun in nouns[:limit]], "next": following}

    @router.get(f"{path}/{{name:path}}", tags=[tag], name=f"get_{kind}")
    def got(name: Name, service: Here, caller: Caller) -> dict[str, Any]:
        """One of them, as it could be put."""
        resource = Resource(kind, service, caller)
        noun = service.registry.ask(partial(resource.live, name=name))
        return cast(dict[str, Any], dump(noun))

    @router.put(
        f"{path}/{{name:path}}",
        tags=[tag],
        name=f"put_{kind}",
        responses={201: {"description": "It is new."}},
        openapi_extra=body_schema(f"The {kind}; its id is that of the path."),
    )
    async def put(
        name: Name, response: Response, body: Body, service: Here, caller: Caller
    ) -> dict[str, Any]:
        """Have it so: made, changed, or left as it is. 200, or 201 if it is new."""
        resource = Resource(kind, service, caller)
        orders, said = await asyncio.to_thread(resource.prepared, _named(name, body))
        done = await carry_out(service, orders, name, said)
        if orders and orders[0].verb not in ("update", ENDS[kind]):
            response.status_code = 201
        return done

    @router.patch(
        f"{path}/{{name:path}}",
        tags=[tag],
        name=f"patch_{kind}",
        openapi_extra=body_schema("The fields that change; null for the default."),
    )
    async def patch(name: Name, body: Body, service: Here, caller: Caller) -> dict[str, Any]:
        """Change some fields; the answer says whether its shortlist keeps what it holds."""
        resource = Resource(kind, service, caller)
        live = partial(resource.live, name=name)
        noun = await asyncio.to_thread(service.registry.ask, live)
        wanted = {**dump(noun), **_named(name, body)}
        orders, said = await asyncio.to_thread(resource.prepared, wanted)
        return await carry_out(service, orders, name, said)

    @router.delete(f"{path}/{{name:path}}", tags=[tag], name=f"delete_{kind}")
    async def delete(name: Name, service: Here, caller: Caller) -> dict[str, Any]:
        """End it."""
        resource = Resource(kind, service, caller)
        await asyncio.to_thread(service.registry.ask, partial(resource.live, name=name))
        return await carry_out(service, [Order(kind, ENDS[kind], name)], name)


def _named(name: str, body: Mapping[str, Any], field: str = "id") -> dict[str, Any]:
    if body.get(field) not in (None, name):
        found = shown(body[field])
        raise Refused(422, f"{field}: expected {name!r} as in the path, found {found}")
    return {**body, field: name}


add_routes("shortlist", "/shortlists", "subscribers")
add_routes("subscription", "/subscriptions", "subscribers")
add_routes("advertisement", "/advertisements", "publishers")


@router.get("/vocabulary", tags=["subscribers"])
def vocabulary(service: Here, caller: Caller) -> dict[str, Any]:
    """What is declared about attributes: types and terms."""
    declared = Registry(vocabulary=service.registry.vocabulary)
    return cast(dict[str, Any], registry_document(declared)["vocabulary"])


@router.patch(
    "/vocabulary/{name:path}",
    tags=["operators"],
    openapi_extra=body_schema("The `terms` of an attribute that change; null for one no more."),
)
async def define(name: Name, body: Body, service: Here, caller: Caller) -> dict[str, Any]:
    """Give terms of an attribute a meaning, for what comes later. The answer says who asks for them
    and so changes its meaning."""
    check_role(caller)
    order = Order(f"attribute {shown(name)}", "define", _named(name, body, "attribute"))

    def asked(roster: Roster) -> tuple[Users, str | None]:
        (command,) = checked([order], roster.vocabulary, service.options.limits)
        assert isinstance(command, Define)
        known = roster.vocabulary.of(command.attribute)
        is_so = roster.refusal(command) is None and defined(known, command) == known
        return roster.concerned(command), None if is_so else effect(roster, command) or ""

    users, said = await asyncio.to_thread(service.registry.ask, asked)
    done = await carry_out(service, [] if said is None else [order], name, said)
    if any(users):
        done["subscriptions"] = [each.id for each in users.subscriptions[:MOST_NAMED]]
        done["advertisements"] = [each.id for each in users.advertisements[:MOST_NAMED]]
    return done
