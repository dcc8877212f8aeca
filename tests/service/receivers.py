"""Servers that webhooks are sent to: some that answer, and some that never come to an end."""

import json
import socket
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver:
    """Somebody's server, which answers as it is told: with these statuses, then with 200."""

    def __init__(self, *statuses):
        self.requests = []
        answers = iter(statuses)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(handler):  # noqa: N805
                body = handler.rfile.read(int(handler.headers["content-length"]))
                self.requests.append((dict(handler.headers), body))
                handler.send_response(next(answers, 200))
                handler.send_header("location", "/elsewhere")
                handler.send_header("content-length", "0")
                handler.end_headers()

            def log_message(handler, *_):  # noqa: N805
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/flats"

    def __enter__(self):
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def publications(self):
        return [json.loads(body)["publication"] for _, body in self.requests]


class Endless:
    """A server that begins an answer and goes on with it for as long as the connection lasts."""

    def __init__(self, start, more, pause):
        self.start, self.more, self.pause = start, more, pause
        self.connections = 0
        self.sent = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/flats"
        self._ending = threading.Event()
        self._threads = [threading.Thread(target=self._accept)]

    def __enter__(self):
        self._threads[0].start()
        return self

    def __exit__(self, *_):
        self._ending.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._socket.close()

    def _accept(self):
        while not self._ending.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            self._threads.append(threading.Thread(target=self._answer, args=(connection,)))
            self._threads[-1].start()

    def _answer(self, connection):
        with connection, suppress(OSError):
            connection.recv(65_536)
            connection.sendall(self.start)
            while not self._ending.is_set():
                connection.sendall(self.more)
                self.sent += len(self.more)
                time.sleep(self.pause)


def dripping():
    """A server whose answer has a header that grows by a byte now and then."""
    return Endless(b"HTTP/1.1 200 OK\r\nx-drip: ", b"x", 0.05)


@contextmanager
def many(servers):
    """All of them while the context lasts."""
    with ExitStack() as stack:
        yield [stack.enter_context(server) for server in servers]
