"""HTTP connections with bounds on what a caller may send before a key is asked: bytes and seconds.

uvicorn has such bounds for h11 alone, which is slower. Its other protocol takes a head of any
length, and waits for ever for the rest of a request that has begun.
"""

import asyncio
from http import HTTPStatus

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from shortlist.service.problems import problem

# Bytes of a request's line and headers, and of what stands around the chunks of its body. Browsers
# and proxies send a few kB at most.
HEAD_BYTES = 32 * 1024
# Bytes of a body that give it one more second: a line that is slower than this is no line of today.
BODY_RATE = 4096


class HeadTooLong(Exception):
    """More than HEAD_BYTES before the head of a request is complete."""


class BoundedRequests(HttpToolsProtocol):
    """A connection that is closed, with a problem as its answer, if a request takes too many bytes
    or seconds to come.

    The server calls `check_pace` from time to time: a timer for each request would cost each
    request some, and these bounds need not be exact.
    """

    # Since when the rest of a request is waited for, by the event loop's clock; None while none is
    # expected. Between two requests uvicorn's own, shorter timeout holds.
    _waits_since: float | None = None
    _has_head = False
    # Bytes of the head that the parser has told of, and bytes that it may still hold, but for those
    # that came together with the end of the request before.
    _told = 0
    _held = 0
    _body = 0

    def check_pace(self, now: float, head_seconds: float, body_seconds: float) -> None:
        """Close the connection if a request is too slow, at an instant of the event loop's
        clock."""
        if self._waits_since is None or self.transport.is_closing():
            return
        if self.flow.read_paused:  # it is we who do not read
            self._waits_since = now
            return
        part, allowed = "head", head_seconds
        if self._has_head:
            part, allowed = "body", body_seconds + self._body / BODY_RATE
        if now - self._waits_since > allowed:
            self._refuse(
                408, f"expected the {part} of a request within {allowed:.3g} s, found less"
            )

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._waits_since = self.loop.time()

    def data_received(self, data: bytes) -> None:
        if self._waits_since is None and not self._is_answering:
            self._waits_since = self.loop.time()
        self._held += len(data)
        super().data_received(data)
        if self._held > HEAD_BYTES and not self.transport.is_closing():
            self._refuse_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._has_head = False
        self._told = self._body = 0

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value))
        # what comes behind the body is too late for a request that is being answered
        if not self._has_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._has_head, self._held = True, 0
        self._waits_since = self.loop.time()
        super().on_headers_complete()

    def on_chunk_header(self) -> None:
        self._held = 0

    def on_body(self, body: bytes) -> None:
        self._held = max(self._held - len(body), 0)
        if not self.cycle.response_complete:  # else it is thrown away, and gets no more time
            self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._waits_since, self._held = None, 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer what cannot be parsed, for uvicorn: also where `_count` has stopped it."""
        if self._told > HEAD_BYTES:
            self._refuse_head()
        else:
            self._refuse(400, "expected a request of HTTP/1.1, found something else")

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _count(self, size: int) -> None:
        self._told += size
        if self._told > HEAD_BYTES:
            raise HeadTooLong

    def _refuse_head(self) -> None:
        self._refuse(431, f"expected a head of at most {HEAD_BYTES} bytes, found more")

    def _refuse(self, status: int, detail: str) -> None:
        """Answer with a problem, unless another answer has begun or nothing was asked; close."""
        has_asked = self._has_head or self._told + self._held > 0 or status != 408
        if self._is_answering:
            has_asked = not self.cycle.response_started
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if has_asked:
            answer = problem(status, detail, headers={"Connection": "close"})
            lines = [b"HTTP/1.1 %d %s" % (status, HTTPStatus(status).phrase.encode())]
            lines += [b"%s: %s" % header for header in answer.raw_headers]
            self.transport.write(b"\r\n".join([*lines, b"", bytes(answer.body)]))
        self.transport.close()
