"""Routes for operators and their tools: health, status, metrics, rejects."""

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from shortlist.client.commands import Order
from shortlist.client.fates import traced
from shortlist.client.recent import read_backwards
from shortlist.client.status import in_quarantine, last_spent, live_status
from shortlist.client.status import usage as usage_of
from shortlist.log.base import REJECTS
from shortlist.model.wording import shown
from shortlist.service.access import check_role
from shortlist.service.measuring import metrics_at
from shortlist.service.problems import Refused
from shortlist.service.state import Body, Caller, Here, Most, Text, body_schema
from shortlist.sites.identity import NoSite, site_status

router = APIRouter(tags=["operators"])
# The thread that traces run in, one after the other. A trace may read the whole input, so a few
# traces in the event loop's default threads once stopped publishing and all streams.
TRACES = ThreadPoolExecutor(1, thread_name_prefix="trace")


@router.get("/livez")
@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Whether this process answers; the two paths are the same."""
    return {"status": "ok"}


@router.get("/readyz")
def readyz(service: Here) -> dict[str, Any]:
    """Whether the log can be reached, its deployment runs, and its last batches succeeded; what is
    missing is said as a problem with status 503."""
    return {"status": "ok", "commits": service.check_ready().number}


@router.get("/metrics", response_class=Response)
def metrics(service: Here, caller: Caller) -> Response:
    """Metrics of this service, and of the deployment that is run together with it, for
    Prometheus."""
    check_role(caller)
    own = generate_latest(service.measures.registry)
    url = service.options.deployment_metrics.get(service.options.tenant)
    more = b"" if url is None else metrics_at(url)
    return Response(own + more, media_type=CONTENT_TYPE_LATEST)


@router.get("/status")
def status(service: Here, caller: Caller) -> dict[str, Any]:
    """How the deployment is doing: lag, rates, counts, rejects by reason, warnings."""
    check_role(caller)
    service.check_known()
    found = live_status(service.deployment, time.time())
    assert found is not None
    return found


@router.get("/usage")
def usage(service: Here, caller: Caller) -> dict[str, Any]:
    """What the last deliveries were spent on: the subscriptions that took most, and how evenly
    they spread over all that are live."""
    check_role(caller)
    spent = last_spent(service.log)
    return service.registry.ask(lambda roster: usage_of(roster, spent))


@router.get("/network")
def network(service: Here, caller: Caller) -> dict[str, Any]:
    """The site that the deployment is, and by neighbour how the link to it is doing: its state,
    what crossed it and what did not, what waits; `site` is null where it is linked to nobody."""
    check_role(caller)
    try:
        return site_status(service.log, time.time())
    except NoSite:
        return {"site": None, "running": False, "links": {}}


@router.get("/rejects")
def rejects(
    service: Here, caller: Caller, limit: Annotated[int, Query(ge=1, le=1000)] = 20
) -> dict[str, Any]:
    """What was turned away last, and why."""
    check_role(caller)
    entries = read_backwards(service.log, REJECTS, limit)
    return {"items": [{"offset": entry.offset, **json.loads(entry.content)} for entry in entries]}


@router.get("/events/trace")
async def trace(
    service: Here,
    caller: Caller,
    source: Text,
    id: Text,
    after: Annotated[int | None, Query(ge=0, lt=2**62, description="As `next` says.")] = None,
    limit: Most = 100,
) -> dict[str, Any]:
    """What became of one publication: its entries in the input, on the first page, and who got it.
    `next` is where the following page begins; pages may be short."""
    check_role(caller)

    # Traces are for operators alone, so they do not wait in turn with subscribers' previews.
    find = partial(traced, service.log, source, id, after, limit)
    found = await asyncio.get_running_loop().run_in_executor(TRACES, find)
    if after is None and not found["entries"]:
        raise Refused(404, f"there is no publication {shown(id)} of {shown(source)} in the log")
    return found


@router.get("/quarantine")
def quarantine(service: Here, caller: Caller) -> dict[str, Any]:
    """What the deployment has put aside because its engine fails on it."""
    check_role(caller)
    return {"items": in_quarantine(service.deployment)}


@router.post(
    "/quarantine/{verb}", openapi_extra=body_schema("`positions` of what is in quarantine.")
)
async def release(
    verb: Literal["retry", "drop"], body: Body, service: Here, caller: Caller
) -> dict[str, Any]:
    """Let what is in quarantine arrive anew, or forget it; what became of each."""
    check_role(caller)
    positions = body.get("positions")
    if not isinstance(positions, list) or not all(
        type(each) is int and 0 < each < 2**62 for each in positions
    ):
        raise Refused(422, f"expected positions, which are numbers, found {shown(body)}")
    orders = [Order(f"{verb} {position}", verb, position) for position in positions]
    verdicts = await service.carry_out(orders) if orders else []
    return {"items": [each.document() for each in verdicts]}


@router.get("/me")
async def me(service: Here, caller: Caller) -> dict[str, Any]:
    """Whose key it is that you call with."""
    found = {"name": caller.name, "role": caller.role, "owner": caller.owner}
    return {**found, "tenant": service.options.tenant, "is_open": service.access.is_open}
