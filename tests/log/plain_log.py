"""A log that forgets: what logs must answer, in a page."""

from collections import defaultdict

from shortlist.log.base import Entry, Moved, Register


class PlainLog:
    def __init__(self):
        self.streams = defaultdict(list)
        self.registers = {}

    def append(self, stream, contents, *, keys=None, expected_end=None):
        entries = self.streams[stream]
        if expected_end not in (None, len(entries)):
            raise Moved
        entries.extend(zip(keys or [None] * len(contents), contents, strict=True))
        return len(entries)

    def end(self, stream):
        return len(self.streams[stream])

    def read(self, stream, after, until=None, *, key=None):
        until = self.end(stream) if until is None else until
        for offset, (found, content) in enumerate(self.streams[stream], start=1):
            if after < offset <= until and key in (None, found):
                yield Entry(offset, 0, content)

    def register(self, name):
        return self.registers.get(name)

    def put(self, name, content, revision):
        found = self.registers.get(name, Register(0, b""))
        if found.revision != revision:
            raise Moved
        self.registers[name] = Register(revision + 1, content)
        return revision + 1

    def close(self):
        pass
