"""Routes for subscribers: what a shortlist shows, what came to it, and why."""

from typing import Annotated, Any

from fastapi import APIRouter, Query

from shortlist.client.explaining import content_of, held_back, origin, outcome, told, tried
from shortlist.client.following import Place
from shortlist.client.keys import Holder
from shortlist.client.nouns import read_noun
from shortlist.client.openings import Opening
from shortlist.engine.explanation import Check, Question
from shortlist.intake.lines import BadItem
from shortlist.intake.roster import Roster
from shortlist.log.base import DELIVERIES
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.model.times import format_time, now
from shortlist.model.wording import shown
from shortlist.service.access import check_role, check_shortlist
from shortlist.service.problems import Refused
from shortlist.service.registering import Name
from shortlist.service.state import (
    After,
    Body,
    Caller,
    Here,
    Most,
    Service,
    Text,
    body_schema,
    parsed,
    read_page,
)

router = APIRouter(tags=["subscribers"])

OUTCOME = ("time", "delivered", "reason", "rank", "score", "subscription", "above", "audience")
"""What is said of a publication that might be published now."""


@router.get("/shortlists/{name:path}/content")
def content(
    name: Name,
    service: Here,
    caller: Caller,
    with_data: Annotated[bool, Query(description="With the publications' data.")] = False,
) -> dict[str, Any]:
    """What a shortlist shows now, the best first; `after` is where its events go on from there."""
    found, manifest = service.of_opening(
        caller, name, lambda _: content_of(service.deployment, name, with_data=with_data)
    )
    after = Place(manifest.deliveries.end, manifest.departures.end)
    return {**found, "after": str(after)}


@router.get("/shortlists/{name:path}/deliveries")
def deliveries(
    name: Name,
    service: Here,
    caller: Caller,
    after: After = 0,
    limit: Most = 100,
) -> dict[str, Any]:
    """What came to a shortlist since it was opened, from the first on; `next` is where the
    following page begins."""
    entries, following = service.of_opening(
        caller,
        name,
        lambda opening: read_page(
            service.log, DELIVERIES, name, max(after, opening.after.deliveries), limit
        ),
    )
    items = [{"offset": entry.offset, "delivery": parsed(entry.content)} for entry in entries]
    return {"items": items, "next": following}


@router.get("/shortlists/{name:path}/held-back")
async def held_back_from(name: Name, service: Here, caller: Caller) -> dict[str, Any]:
    """Which of the last 1,000 publications match a shortlist and were not delivered, the latest
    first, and why. Of so many as `replayed` says the state does not tell it any more: they are
    judged by the subscriptions of now, as if nothing had come before."""

    def answer(check: Check) -> dict[str, Any]:
        def held(_: Opening) -> dict[str, Any]:
            return held_back(service.deployment, name, now=now(), check=check)

        return service.of_opening(caller, name, held)

    return await service.run_in_turn(caller, answer)


@router.get("/shortlists/{name:path}/explanations")
async def explanations(
    name: Name,
    service: Here,
    caller: Caller,
    publication: Text,
    source: Annotated[str | None, Query(max_length=1000)] = None,
) -> dict[str, Any]:
    """Why a publication is on a shortlist, or is not. The state tells what became of what came
    since its last snapshot, and how what it holds stands now; `from` says so. Else the last 1,000
    publications are replayed, with the subscriptions of now, as if nothing had come before."""

    def answer(check: Check) -> tuple[list[dict[str, Any]], int | None]:
        def explained(_: Opening) -> tuple[list[dict[str, Any]], int | None]:
            question = Question(publication=publication, source=source, shortlist=name, check=check)
            return told(service.deployment, question, name, now=now())

        return service.of_opening(caller, name, explained)

    found, replayed = await service.run_in_turn(caller, answer)
    if not found:
        looked = f"in the state, nor among the {replayed:,} that were published last"
        raise Refused(404, f"there is no publication {shown(publication)} {looked}")
    return {"items": found, "from": origin(replayed)}


@router.post(
    "/try", openapi_extra=body_schema("A subscription, as it would be put; its id may be absent.")
)
async def try_subscription(body: Body, service: Here, caller: Caller) -> dict[str, Any]:
    """What a subscription would have delivered of the last 1,000 publications, had it been alone on
    its shortlist. Nothing is made."""
    check_role(caller, "subscriber")

    def answer(check: Check) -> dict[str, Any]:
        subscription = _tried(body, service)
        on = service.registry.ask(lambda roster: _named(caller, roster, subscription))
        vocabulary = service.registry.vocabulary
        return tried(service.deployment, vocabulary, subscription, on, now=now(), check=check)

    return await service.run_in_turn(caller, answer)


def _named(caller: Holder, roster: Roster, subscription: Subscription) -> tuple[Shortlist, ...]:
    """The shortlist that a subscription names, if any."""
    if subscription.shortlist is None:
        return ()
    check_shortlist(caller, roster, subscription.shortlist)
    return (roster.shortlists[subscription.shortlist],)


@router.post("/check", openapi_extra=body_schema("A subscription, as it would be put."))
def check_subscription(body: Body, service: Here, caller: Caller) -> dict[str, Any]:
    """Whether a subscription can be read; if not, every problem with its field and column."""
    check_role(caller, "subscriber")
    return {"id": _tried(body, service).id, "problems": []}


def _tried(body: dict[str, Any], service: Service) -> Subscription:
    document = {"id": "this", **body}
    noun = read_noun("subscription", document, service.registry.vocabulary, service.options.limits)
    assert isinstance(noun, Subscription)
    return noun


@router.post(
    "/explain",
    openapi_extra=body_schema(
        "`shortlist`, and a `publication`: one that was published, or could be."
    ),
)
async def explain(body: Body, service: Here, caller: Caller) -> dict[str, Any]:
    """How far the live subscriptions of a shortlist match a publication, predicate by predicate,
    and what would become of it there if it were published now, by the state of the shortlist."""
    shortlist, publication = body.get("shortlist"), body.get("publication")
    if not isinstance(shortlist, str) or not isinstance(publication, dict):
        expected = "expected a shortlist and a publication, which is an object"
        raise Refused(422, f"{expected}; found {shown(body)}")
    timed = {"id": "this", "source": "this", "time": format_time(now())}
    given = {name: value for name, value in publication.items() if value is not None}

    def answer(check: Check) -> dict[str, Any]:
        def explained(_: Opening) -> tuple[list[dict[str, Any]], dict[str, Any]]:
            document = timed | given
            return outcome(service.deployment, document, shortlist, now=now(), check=check)

        found, made = service.of_opening(caller, shortlist, explained)
        told = {name: value for name, value in made.items() if name in OUTCOME}
        return {"shortlist": shortlist, "subscriptions": found, "outcome": told}

    try:
        return await service.run_in_turn(caller, answer)
    except BadItem as error:
        raise Refused(422, f"publication: {error}", error.problems) from None
