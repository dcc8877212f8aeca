"""Routes for operators and their tools: health, status, metrics, rejects."""

from __future__ import annotations

import json
import time
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from shortlist.client.status import live_status
from shortlist.client.usage import recent_deliveries
from shortlist.client.usage import usage as usage_of
from shortlist.log.base import REJECTS
from shortlist.service.access import check_role
from shortlist.service.state import Caller, Here

router = APIRouter(tags=["operators"])


@router.get("/healthz")
async def healthz() -> dict[str, str]:
    """Whether this process answers."""
    return {"status": "ok"}


@router.get("/readyz")
def readyz(service: Here) -> dict[str, Any]:
    """Whether the log can be reached, a deployment works on it, and its state can be read."""
    return {"status": "ok", "commits": service.check_ready().number}


@router.get("/metrics", response_class=Response)
def metrics(service: Here, caller: Caller) -> Response:
    """Metrics of this service, for Prometheus."""
    check_role(caller)
    return Response(generate_latest(service.measures.registry), media_type=CONTENT_TYPE_LATEST)


@router.get("/status")
def status(service: Here, caller: Caller) -> dict[str, Any]:
    """How the deployment is doing: lag, rates, counts, rejects by reason, warnings."""
    check_role(caller)
    service.check_ready()
    found = live_status(service.deployment, time.time())
    assert found is not None
    return found


@router.get("/usage")
def usage(service: Here, caller: Caller) -> dict[str, Any]:
    """What the last deliveries were spent on: the subscriptions that took most, and how evenly
    they spread over all that are live."""
    check_role(caller)
    recent = recent_deliveries(service.log)
    return service.registry.ask(lambda roster: usage_of(roster, recent))


@router.get("/rejects")
def rejects(
    service: Here, caller: Caller, limit: Annotated[int, Query(ge=1, le=1000)] = 20
) -> dict[str, Any]:
    """What was turned away last, and why."""
    check_role(caller)
    end = service.log.end(REJECTS)
    entries = [*service.log.read(REJECTS, max(end - limit, 0), end)]
    items = [{"offset": entry.offset, **json.loads(entry.content)} for entry in entries]
    return {"items": items[::-1]}


@router.get("/me")
async def me(service: Here, caller: Caller) -> dict[str, Any]:
    """Whose key it is that you call with."""
    found = {"name": caller.name, "role": caller.role, "owner": caller.owner}
    return {**found, "tenant": service.options.tenant, "is_open": service.access.is_open}
