"""Speaking to a deployment through its HTTP service, from anywhere: sync and async."""

from __future__ import annotations

import asyncio
import json
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from typing import Any, Generic, Literal, NamedTuple, TypeVar
from urllib.parse import quote

import httpx

from shortlist.model.problem import Problem, ShortlistError

Document = dict[str, Any]
Answer = TypeVar("Answer")
Resource = Literal["shortlists", "subscriptions", "advertisements"]

BATCH = {"content-type": "application/cloudevents-batch+json"}
PASSING = (429, 502, 503)
"""Answers that may be others a little later."""
LEAST_PAUSE, MOST_PAUSE = 0.1, 5.0
STREAM_SECONDS = 60.0
"""Silence after which a stream counts as broken; the service says something more often."""


class Refusal(ShortlistError):
    """What a service said no to, and why."""

    def __init__(
        self,
        status: int,
        detail: str,
        problems: Sequence[Problem] = (),
        offset: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.problems = tuple(problems)
        self.offset = offset
        """Where the command stands in the log's input, if the deployment refused it."""


class Unreachable(ShortlistError):
    """A service that did not answer for as long as it was tried."""


class Call(NamedTuple):
    """A request; one that is `safe` may be repeated where nobody knows whether it arrived."""

    method: str
    path: str
    content: bytes | None = None
    headers: Mapping[str, str] = {}
    params: Mapping[str, str | int] = {}
    is_safe: bool = True

    @property
    def rest(self) -> dict[str, Any]:
        return {"content": self.content, "headers": self.headers, "params": self.params}


class Event(NamedTuple):
    """Something that came to a shortlist (`delivery`) or left it (`departure`)."""

    place: str
    """Whoever follows on behind it misses nothing."""
    kind: str
    document: Document
    line: str
    """The document as the log has it."""


class Api(ABC, Generic[Answer]):
    """What a service can be asked for; how that is done, and waited for, is for others to say."""

    @abstractmethod
    def ask(self, call: Call) -> Answer:
        """The document that a service answers with."""

    def _get(self, path: str, /, **params: str | int | None) -> Answer:
        given = {name: value for name, value in params.items() if value is not None}
        return self.ask(Call("GET", path, params=given))

    def publish(self, *events: Mapping[str, Any]) -> Answer:
        """Publishes CloudEvents, 1,000 at most; they are durable when this answers. It is tried
        again where nobody knows: the deployment takes an event once, by its source and id."""
        return self.ask(Call("POST", "/events", json.dumps(events).encode(), BATCH))

    def fates(self, first: int, last: int, wait: float = 0.0) -> Answer:
        """What became of the publications that were acknowledged at these offsets; they are waited
        for so many seconds."""
        return self._get("/events/fates", first=first, last=last, wait=f"{wait:g}")

    def trace(self, source: str, name: str, after: int | None = None) -> Answer:
        """What became of one publication, and one page of who got it; its `next` is the `after` of
        the following one."""
        return self._get("/events/trace", source=source, id=name, after=after)

    def retract(self, source: str, name: str) -> Answer:
        params = {"source": source, "id": name}
        return self.ask(Call("DELETE", "/events", params=params, is_safe=False))

    def put(self, resource: Resource, name: str, document: Mapping[str, Any]) -> Answer:
        """Has a noun so: made, changed, or left as it is."""
        return self.ask(_with_body("PUT", _path(resource, name), document))

    def patch(self, resource: Resource, name: str, changes: Mapping[str, Any]) -> Answer:
        return self.ask(_with_body("PATCH", _path(resource, name), changes))

    def delete(self, resource: Resource, name: str) -> Answer:
        return self.ask(Call("DELETE", _path(resource, name), is_safe=False))

    def get(self, resource: Resource, name: str) -> Answer:
        return self._get(_path(resource, name))

    def list(self, resource: Resource, **params: str | int) -> Answer:
        """One page; its `next` is the `after` of the following one."""
        return self._get(f"/{resource}", **params)

    def content(self, shortlist: str, *, with_data: bool = False) -> Answer:
        """What a shortlist shows now, and the place `after` which events go on from there."""
        path = _path("shortlists", shortlist, "/content")
        return self._get(path, with_data=str(with_data).lower())

    def deliveries(self, shortlist: str, after: int = 0, limit: int = 100) -> Answer:
        """One page of what came to a shortlist."""
        return self._get(_path("shortlists", shortlist, "/deliveries"), after=after, limit=limit)

    def held_back(self, shortlist: str) -> Answer:
        """What matches a shortlist and was not delivered lately, and why."""
        return self._get(_path("shortlists", shortlist, "/held-back"))

    def explanations(self, shortlist: str, publication: str, source: str | None = None) -> Answer:
        """Why a publication is on a shortlist, or is not, and `from` what that is known."""
        path = _path("shortlists", shortlist, "/explanations")
        return self._get(path, publication=publication, source=source)

    def try_out(self, subscription: Mapping[str, Any]) -> Answer:
        """What a subscription would have delivered lately."""
        return self.ask(_with_body("POST", "/try", subscription))

    def explain(self, shortlist: str, publication: Mapping[str, Any]) -> Answer:
        """How far a publication matches, and what would become of it if it were published now."""
        asked = {"shortlist": shortlist, "publication": publication}
        return self.ask(_with_body("POST", "/explain", asked))

    def status(self) -> Answer:
        return self._get("/status")

    def quarantine(self) -> Answer:
        """What the deployment has put aside because its engine fails on it."""
        return self._get("/quarantine")

    def release(self, verb: Literal["retry", "drop"], positions: Sequence[int]) -> Answer:
        """Lets what is in quarantine arrive anew, or forgets it."""
        call = _with_body("POST", f"/quarantine/{verb}", {"positions": [*positions]})
        return self.ask(call._replace(is_safe=False))

    def network(self) -> Answer:
        """The site that the deployment is, and how its links to others are doing."""
        return self._get("/network")

    def usage(self) -> Answer:
        """Return what the last deliveries were spent on."""
        return self._get("/usage")

    def vocabulary(self) -> Answer:
        """What is declared about attributes, as a registry has it."""
        return self._get("/vocabulary")

    def define(self, attribute: str, terms: Mapping[str, Any]) -> Answer:
        """Terms of an attribute are new, mean something else, or (null) are no more; the answer
        names whose meaning changes."""
        path = f"/vocabulary/{quote(attribute, safe='')}"
        return self.ask(_with_body("PATCH", path, {"terms": terms}))

    def me(self) -> Answer:
        """Whose key it is that this program calls with."""
        return self._get("/me")


class Remote(Api[Document]):
    """A service, for programs that wait; for `patience` seconds what fails is tried again."""

    def __init__(self, url: str, key: str | None = None, *, patience: float = 30.0) -> None:
        self._patience = patience
        self._client = httpx.Client(base_url=url, headers=_headers(key), timeout=STREAM_SECONDS)

    def ask(self, call: Call) -> Document:
        trial = _Trial(call, self._patience)
        while True:
            try:
                found = trial.judged(self._client.request(call.method, call.path, **call.rest))
                if found is not None:
                    return found
            except httpx.TransportError as error:
                trial.failed(error)
            time.sleep(trial.pause)

    def follow(self, shortlist: str, after: str | None = None) -> Iterator[Event]:
        """What comes to a shortlist behind a place, or from now on, for ever; where the connection
        breaks it is made again, without a gap."""
        events = _Events(after)
        while True:
            call = events.call(shortlist)
            trial = _Trial(call, self._patience)
            try:
                with self._client.stream(call.method, call.path, **call.rest) as answer:
                    if answer.is_error:
                        answer.read()
                        trial.judged(answer)
                    elif answer.is_success:
                        yield from filter(None, map(events.take, answer.iter_lines()))
            except httpx.TransportError as error:
                trial.failed(error)
            time.sleep(trial.pause)

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Remote:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncRemote(Api[Awaitable[Document]]):
    """A service, for programs that do other things meanwhile."""

    def __init__(self, url: str, key: str | None = None, *, patience: float = 30.0) -> None:
        self._patience = patience
        self._client = httpx.AsyncClient(
            base_url=url, headers=_headers(key), timeout=STREAM_SECONDS
        )

    async def ask(self, call: Call) -> Document:
        trial = _Trial(call, self._patience)
        while True:
            try:
                answer = await self._client.request(call.method, call.path, **call.rest)
                found = trial.judged(answer)
                if found is not None:
                    return found
            except httpx.TransportError as error:
                trial.failed(error)
            await asyncio.sleep(trial.pause)

    async def follow(self, shortlist: str, after: str | None = None) -> AsyncIterator[Event]:
        """As `Remote.follow`."""
        events = _Events(after)
        while True:
            call = events.call(shortlist)
            trial = _Trial(call, self._patience)
            try:
                async with self._client.stream(call.method, call.path, **call.rest) as answer:
                    if answer.is_error:
                        await answer.aread()
                        trial.judged(answer)
                    else:
                        async for line in answer.aiter_lines():
                            event = events.take(line)
                            if event is not None:
                                yield event
            except httpx.TransportError as error:
                trial.failed(error)
            await asyncio.sleep(trial.pause)

    async def close(self) -> None:
        await self._client.aclose()

    async def __aenter__(self) -> AsyncRemote:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class _Trial:
    """One call, and how long it is tried."""

    def __init__(self, call: Call, patience: float) -> None:
        self._call = call
        self._patience = patience
        self._deadline = time.monotonic() + patience
        self._doubled = LEAST_PAUSE
        self.pause = LEAST_PAUSE
        """Seconds until it is tried again."""

    def judged(self, answer: httpx.Response) -> Document | None:
        """The document of an answer; None if it may be another one after a pause."""
        if answer.is_success:
            found: Document = answer.json()
            return found
        refusal = _refusal(answer)
        if answer.status_code not in PASSING:
            raise refusal
        self._again(refusal)
        after = answer.headers.get("retry-after", "")
        self.pause = max(self.pause, float(after)) if after.isdecimal() else self.pause
        return None

    def failed(self, error: httpx.TransportError) -> None:
        """Nobody knows whether it arrived."""
        known = Unreachable(
            f"{self._call.method} {self._call.path}: {error or type(error).__name__}"
        )
        if not self._call.is_safe and not isinstance(error, httpx.ConnectError):
            raise known from error
        self._again(known)

    def _again(self, error: ShortlistError) -> None:
        if time.monotonic() >= self._deadline:
            raise error
        self.pause = self._doubled
        self._doubled = min(2 * self._doubled, MOST_PAUSE)


class _Events:
    """The events in the lines of streams, and the place behind the last one.

    >>> events = _Events("1.0")
    >>> [events.take(line) for line in ("id: 2.0", "event: delivery", 'data: {"rank": 1}')]
    [None, None, None]
    >>> events.take(""), events.place
    (Event(place='2.0', kind='delivery', document={'rank': 1}, line='{"rank": 1}'), '2.0')
    """

    def __init__(self, place: str | None) -> None:
        self.place = place
        self._fields: dict[str, str] = {}

    def call(self, shortlist: str) -> Call:
        """What opens the stream that goes on behind the last event."""
        self._fields = {}
        headers = {} if self.place is None else {"last-event-id": self.place}
        return Call("GET", _path("shortlists", shortlist, "/events"), headers=headers)

    def take(self, line: str) -> Event | None:
        """One more line; an event, if it is its last one."""
        if line:
            name, _, value = line.partition(": ")
            self._fields[name] = value
            return None
        fields, self._fields = self._fields, {}
        if "event" not in fields:
            return None
        self.place = fields["id"]
        is_news = fields["event"] != "ready"
        line = fields["data"]
        return Event(self.place, fields["event"], json.loads(line), line) if is_news else None


def _refusal(answer: httpx.Response) -> Refusal:
    try:
        found = answer.json()
        problems = [Problem(**each) for each in found.get("problems", ())]
        return Refusal(answer.status_code, found["detail"], problems, found.get("offset"))
    except (ValueError, KeyError, TypeError, AttributeError):
        return Refusal(answer.status_code, f"{answer.status_code} {answer.reason_phrase}")


def _headers(key: str | None) -> dict[str, str]:
    return {} if key is None else {"authorization": f"Bearer {key}"}


def _path(resource: Resource, name: str, rest: str = "") -> str:
    """
    >>> _path("shortlists", "a/b", "/content")
    '/shortlists/a%2Fb/content'
    """
    return f"/{resource}/{quote(name, safe='')}{rest}"


def _with_body(method: str, path: str, document: Mapping[str, Any]) -> Call:
    headers = {"content-type": "application/json"}
    return Call(method, path, json.dumps(document).encode(), headers)
