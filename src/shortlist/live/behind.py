"""One thing at a time, done by a thread while somebody goes on."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue


class Behind:
    """A thread of one's own, so that what it has open stays open; it does not keep the process.

    >>> behind, done = Behind("output"), []
    >>> behind.begin(lambda: done.append(1))
    >>> behind.wait()
    >>> done
    [1]
    >>> behind.close()
    """

    def __init__(self, name: str) -> None:
        self._asked: SimpleQueue[tuple[Callable[[], object], Future[None]] | None] = SimpleQueue()
        self._under_way: Future[None] | None = None
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def begin(self, do: Callable[[], object]) -> None:
        """Begins with something once the last one is done."""
        self.wait()
        self._under_way = Future()
        self._asked.put((do, self._under_way))

    def wait(self) -> None:
        """Until nothing is under way; raises what went wrong, if it did."""
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            under_way.result()

    def close(self) -> None:
        """The thread ends when it is done."""
        self._asked.put(None)

    def _run(self) -> None:
        while (asked := self._asked.get()) is not None:
            do, done = asked
            try:
                do()
            except BaseException as error:
                done.set_exception(error)
            else:
                done.set_result(None)
