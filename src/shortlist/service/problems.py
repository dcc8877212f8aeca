"""Errors as problem details (RFC 9457)."""

from collections.abc import Iterable
from functools import partial
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from shortlist.client.commands import BadOrders
from shortlist.client.deployment import NotKnown
from shortlist.client.nouns import CannotBecome, NotLive
from shortlist.client.webhooks import NoWebhook, TakenWebhook
from shortlist.live.asking import NoSuchShortlist
from shortlist.live.registers import NoDeployment
from shortlist.log.base import LogUnavailable
from shortlist.model.problem import Problem, ShortlistError
from shortlist.service.notifying import ForbiddenTarget

MEDIA_TYPE = "application/problem+json"
STATUSES: dict[type[ShortlistError], int] = {
    BadOrders: 422,
    CannotBecome: 409,
    NotLive: 404,
    NoSuchShortlist: 404,
    NoWebhook: 404,
    TakenWebhook: 409,
    ForbiddenTarget: 422,
    NoDeployment: 503,
    LogUnavailable: 503,
    NotKnown: 504,
}
"""What errors of the client are to somebody who called."""


def _schema(required: list[str], **properties: str | dict[str, Any]) -> dict[str, Any]:
    """Of an object; what is said of a property is its type, or all."""
    said = {name: {"type": it} if isinstance(it, str) else it for name, it in properties.items()}
    return {"type": "object", "required": required, "properties": said}


PROBLEM = _schema(["message"], message="string", id="string", field="string", column="integer")
SCHEMA = _schema(
    ["type", "title", "status", "detail"],
    type="string",
    title="string",
    status="integer",
    detail="string",
    problems={"type": "array", "items": PROBLEM},
)
RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"description": description, "content": {MEDIA_TYPE: {"schema": SCHEMA}}}
    for status, description in {
        "4XX": "What was expected, and what was found.",
        "5XX": "The log, the deployment or the service does not answer.",
    }.items()
}
"""What the OpenAPI document says of every route."""
BEFORE = {503: {"Retry-After": "1"}}


class Refused(Exception):
    """A request that is answered with a problem; takes what `problem` does."""

    def __init__(self, status: int, detail: str, *more: Any, **named: Any) -> None:
        super().__init__(detail)
        self.answer = partial(problem, status, detail, *more, **named)


def problem(
    status: int,
    detail: str,
    problems: Iterable[Problem] = (),
    headers: dict[str, str] | None = None,
    **more: Any,
) -> JSONResponse:
    """The answer to a request that was refused."""
    content: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        **more,
    }
    listed = [_document(each) for each in problems]
    if listed:
        content["problems"] = listed
    known = BEFORE.get(status, {}) | (headers or {})
    return JSONResponse(content, status, known, MEDIA_TYPE)


def _document(one: Problem) -> dict[str, Any]:
    """
    >>> _document(Problem(message="expected a value", field="where", column=7))
    {'message': 'expected a value', 'field': 'where', 'column': 7}
    """
    found = {name: getattr(one, name) for name in ("message", "id", "field", "column")}
    return {name: value for name, value in found.items() if value is not None}


def answer_to(error: Refused | ShortlistError) -> JSONResponse:
    """What somebody is told whose request led to an error that is known."""
    if isinstance(error, Refused):
        return error.answer()
    statuses = (STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)
    listed = error.problems if isinstance(error, BadOrders) else ()
    return problem(next(statuses, 500), str(error), listed)


def add_handlers(app: FastAPI) -> None:
    """Whatever goes wrong is told as a problem."""

    @app.exception_handler(Refused)
    @app.exception_handler(ShortlistError)
    async def known(request: Request, error: Refused | ShortlistError) -> JSONResponse:
        return answer_to(error)

    @app.exception_handler(RequestValidationError)
    async def unreadable(request: Request, error: RequestValidationError) -> JSONResponse:
        listed = [
            Problem(field=".".join(map(str, detail["loc"])), message=detail["msg"])
            for detail in error.errors()
        ]
        return problem(422, "; ".join(map(str, listed)), listed)

    @app.exception_handler(HTTPException)
    async def other(request: Request, error: HTTPException) -> JSONResponse:
        return problem(error.status_code, str(error.detail), headers=dict(error.headers or {}))

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> JSONResponse:
        return problem(500, "the service failed; its own log says why")
