"""A machine whose disk and log fail where they are told to.

Everything that a deployment does to files of a folder goes through a few functions of `os` and
`io`, and all it does to a log through the methods of `Log`: each call is an operation with a
number. The first run of a timeline counts them, later ones fail at some of them.
"""

import builtins
import errno
import io
import os
import shutil
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from shortlist.log.base import LogUnavailable, Moved

DIES = ("dies before", "dies after", "dies torn", "loses power")
"""Nothing that the process has in memory is left; of a torn write half is there; what was not made
durable goes with the power."""
FAILS = ("fails before", "fails after", "fails torn")
"""The process is told so."""
ARRIVES_LATER = {f"arrives {many} later": many for many in (1, 2, 3, 5, 8)}
"""The process dies, and what it has asked the log for is done while the next one is at work: so
many operations later."""
TAKEN_OVER = ("taken over at once", "taken over for long")
"""The process is stopped while another one takes over; then it goes on."""
CHANGES = ("create", "write", "sync", "link", "replace", "remove", "make folder", "append", "put")
"""Operations that change something; the others read."""


class Died(BaseException):
    """The process has ended: nobody catches this but who starts the next one."""


class Operation(NamedTuple):
    """What a process did."""

    name: str
    where: str
    is_outside: bool = False
    """Somebody else's, who is never killed: a publisher, or an operator who is asked again."""

    @property
    def ways(self):
        """How it can go wrong."""
        if self.is_outside:
            return ("fails before", "fails after") if self.name in CHANGES else ("fails before",)
        if self.name not in CHANGES:
            # whoever dies here leaves what the change before leaves
            return ("fails before", *TAKEN_OVER)
        torn = ("dies torn", "fails torn") if self.name == "write" else ()
        power = tuple(ARRIVES_LATER) if self.name in ("append", "put") else ("loses power",)
        told = ("dies before", "dies after", "fails before", "fails after")
        return (*told, *torn, *power, *TAKEN_OVER)


class Machine:
    """Within `watched()`: counts operations on a folder, and on logs that are `watch`ed."""

    def __init__(self, folder, faults=()):
        """Faults are numbers of operations, each with the way in which it goes wrong."""
        self.operations: list[Operation] = []
        self.struck: list[tuple[int, str]] = []
        """Faults that have come to pass."""
        self.is_dead = False
        self.lost_power = False
        """Then whoever was stopped meanwhile is dead, too."""
        self.take_over = None
        """What another process does meanwhile; it is told for how long."""
        self._folder = f"{Path(folder).absolute()}/"
        self._faults = dict(faults)
        self._disk = _Disk()
        self._late = []
        """What was asked of a log by somebody who has died, and when it arrives."""
        self._is_at_work = False
        """What it does to carry out an operation is no operation."""

    @contextmanager
    def watched(self):
        """Operations on the folder are counted from here on."""
        with ExitStack() as stack:
            for module, name, made in (
                (io, "open", self._open),
                (builtins, "open", self._open),
                (os, "fsync", self._fsync),
                (os, "link", self._link),
                (os, "replace", self._replace),
                (os, "unlink", self._unlink),
                (os, "mkdir", self._mkdir),
            ):
                stack.enter_context(patch.object(module, name, made(getattr(module, name))))
            yield self

    def watch(self, log, *, is_outside=False):
        """A log whose operations are counted, and fail where they are told to."""
        return WatchedLog(log, self, is_outside)

    def operate(self, operation, act, torn=None):
        """Does something, or not, or half."""
        if self.is_dead and not operation.is_outside:
            raise Died  # whatever is left to do on the way out is not done
        number = len(self.operations)
        self.operations.append(operation)
        self._let_arrive(number)
        way = self._faults.get(number)
        if way is not None:
            # after a first fault another operation may have the number of the second
            way = way if way in operation.ways else operation.ways[0]
            self.struck.append((number, way))
        if way in TAKEN_OVER:
            self.take_over(way == "taken over for long")
            if self.is_dead:
                raise Died
        self._is_at_work = True
        try:
            if way is None or way in TAKEN_OVER:
                return act()
            if way in ("dies after", "fails after", "loses power"):
                act()
            elif way in ("dies torn", "fails torn"):
                torn()
            if way == "loses power":
                self._disk.lose_power()
                self.lost_power = True
        finally:
            self._is_at_work = False
        if way in ARRIVES_LATER:
            self._late.append((number + ARRIVES_LATER[way], act))
        if way in DIES or way in ARRIVES_LATER:
            self.is_dead = True
            raise Died
        if operation.name in ("append", "put", "end", "read", "chunks", "register"):
            raise LogUnavailable(f"no {operation.name}")
        raise OSError(errno.ENOSPC, f"no {operation.name}")

    def _let_arrive(self, number):
        due = [act for at, act in self._late if at <= number]
        self._late = [(at, act) for at, act in self._late if at > number]
        for act in due:
            with suppress(Moved):
                act()

    def _is_mine(self, path):
        if self._is_at_work or not isinstance(path, str | Path):
            return False
        return os.fspath(path).startswith(self._folder)

    def _on(self, name, path):
        return Operation(name, os.fspath(path).removeprefix(self._folder))

    def _open(self, real):
        def opened(path, mode="r", *others, **more):
            if not self._is_mine(path):
                return real(path, mode, *others, **more)
            if mode in ("r", "rb"):
                reading = self._on("open", path)
                return self.operate(reading, lambda: real(path, mode, *others, **more))
            if os.path.lexists(path):
                return WatchedFile(real(path, mode, *others, **more), path, self)

            def act():
                file = real(path, mode, *others, **more)
                self._disk.name(path)
                return WatchedFile(file, path, self)

            return self.operate(self._on("create", path), act)

        return opened

    def write(self, file, path, content):
        """For a file that was opened for writing."""

        def put(what):
            self._disk.change(path, file.tell())
            file.write(what)
            file.flush()

        self.operate(
            self._on("write", path),
            lambda: put(content),
            torn=lambda: put(content[: len(content) // 2]),
        )
        return len(content)

    def _fsync(self, real):
        def synced(descriptor):
            number = descriptor if isinstance(descriptor, int) else descriptor.fileno()
            path = os.readlink(f"/proc/self/fd/{number}")
            if f"{path}/".startswith(self._folder):
                # the machine stays up, so that no disk need be waited for
                self.operate(self._on("sync", path), lambda: self._disk.make_durable(path))

        return synced

    def _link(self, real):
        def linked(source, target):
            def act():
                real(source, target)
                self._disk.name(target, as_durable_as=source)

            if not self._is_mine(target) or os.path.lexists(target):
                return real(source, target)
            return self.operate(self._on("link", target), act)

        return linked

    def _replace(self, real):
        def replaced(source, target):
            def act():
                before = Path(target).read_bytes() if os.path.lexists(target) else None
                real(source, target)
                self._disk.name(target, before, as_durable_as=source)

            if not self._is_mine(target):
                return real(source, target)
            return self.operate(self._on("replace", target), act)

        return replaced

    def _unlink(self, real):
        def unlinked(path, **more):
            if not self._is_mine(path) or not os.path.lexists(path):
                return real(path, **more)
            return self.operate(self._on("remove", path), lambda: real(path, **more))

        return unlinked

    def _mkdir(self, real):
        def made(path, *others, **more):
            def act():
                real(path, *others, **more)
                self._disk.name(path)

            if not self._is_mine(path) or os.path.lexists(path):
                return real(path, *others, **more)
            if not os.path.isdir(os.path.dirname(path)):
                return real(path, *others, **more)  # fails: whoever makes parents comes again
            return self.operate(self._on("make folder", path), act)

        return made


class WatchedFile:
    """A file that is written."""

    def __init__(self, file, path, machine):
        self._file, self._path, self._machine = file, path, machine

    def write(self, content):
        return self._machine.write(self._file, self._path, content)

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()


class WatchedLog:
    """A log whose every call is an operation; it stays open for who uses it next."""

    def __init__(self, log, machine, is_outside):
        self._log, self._machine, self._is_outside = log, machine, is_outside

    def append(self, stream, contents, **more):
        return self._operate("append", stream, contents, **more)

    def put(self, name, content, revision):
        return self._operate("put", name, content, revision)

    def end(self, stream):
        return self._operate("end", stream)

    def read(self, stream, *others, **more):
        return self._operate("read", stream, *others, **more)

    def chunks(self, stream, *others):
        return self._operate("chunks", stream, *others)

    def register(self, name):
        return self._operate("register", name)

    @property
    def longest(self):
        return self._log.longest

    def close(self):
        pass

    def _operate(self, name, where, *others, **more):
        method = getattr(self._log, name)
        operation = Operation(name, where, self._is_outside)
        return self._machine.operate(operation, lambda: method(where, *others, **more))


class _Disk:
    """What would be lost with the power: names in folders, and ends of files, that nobody has
    made durable."""

    def __init__(self):
        self._names = []
        """Of what was made: its path, and what was there before, if it was a file."""
        self._kept = {}
        """By path of a file: how many bytes are durable."""

    def name(self, path, before=None, *, as_durable_as=None):
        path, source = os.fspath(path), as_durable_as and os.fspath(as_durable_as)
        self._names.append((path, before))
        self._kept.pop(path, None)
        if source in self._kept:
            self._kept[path] = self._kept[source]

    def change(self, path, size):
        self._kept.setdefault(os.fspath(path), size)

    def make_durable(self, path):
        """A file's content, or the names in a folder."""
        self._kept.pop(path, None)
        self._names = [made for made in self._names if os.path.dirname(made[0]) != path]

    def lose_power(self):
        for path, size in self._kept.items():
            if os.path.isfile(path):
                os.truncate(path, size)
        for path, before in reversed(self._names):
            if before is not None:
                Path(path).write_bytes(before)
            elif os.path.isdir(path):
                shutil.rmtree(path)
            elif os.path.lexists(path):
                os.remove(path)
        self.__init__()
