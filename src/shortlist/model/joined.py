"""Many contents as one: few objects, however many contents there are."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, overload


class Joined(Sequence[bytes]):
    """Contents one after the other; each is made an object of its own when somebody asks for it.

    >>> some = Joined.of([b"one", b"", b"three"])
    >>> some[2], [*some[:2]], bytes(some.content), [*some.stops]
    (b'three', [b'one', b''], b'onethree', [3, 3, 8])
    """

    __slots__ = ("content", "start", "stops")

    def __init__(self, content: Any, stops: Any, start: int = 0) -> None:
        """With buffers of bytes, and of whole numbers of eight bytes: where each content ends.
        The first one begins at `start`."""
        self.content = memoryview(content)
        self.stops = memoryview(stops)
        self.start = start

    @classmethod
    def of(cls, contents: Sequence[bytes]) -> "Joined":
        if isinstance(contents, Joined):
            return contents
        return cls(b"".join(contents), array("q", accumulate(map(len, contents))))

    @classmethod
    def of_parts(cls, parts: "Sequence[Joined]") -> "Joined":
        """One part behind the other.

        >>> [*Joined.of_parts([Joined.of([b"a", b"bc"])[1:], Joined.of([b"d"])])]
        [b'bc', b'd']
        """
        import numpy as np  # few contents do without what takes so long to import

        stops, end = [np.empty(0, np.int64)], 0
        for part in parts:
            stops.append(np.asarray(part.stops) + (end - part.start))
            end += part.size
        return cls(b"".join(part.all for part in parts), np.concatenate(stops))

    @property
    def all(self) -> memoryview:
        """The bytes of all."""
        return self.content[self.start : self.start + self.size]

    @property
    def size(self) -> int:
        """How many bytes all have."""
        return int(self.stops[-1]) - self.start if len(self.stops) else 0

    def __len__(self) -> int:
        return len(self.stops)

    @overload
    def __getitem__(self, place: int) -> bytes: ...

    @overload
    def __getitem__(self, place: slice) -> "Joined": ...

    def __getitem__(self, place: int | slice) -> "bytes | Joined":
        if isinstance(place, slice):
            first, end, step = place.indices(len(self))
            if step != 1:
                raise ValueError(f"expected neighbours, found one of {step}")
            return Joined(self.content, self.stops[first:end], self._start_of(first))
        at = range(len(self))[place]
        return bytes(self.content[self._start_of(at) : self.stops[at]])

    def __iter__(self) -> Iterator[bytes]:
        content, start = self.content, self.start
        for stop in self.stops:
            yield bytes(content[start:stop])
            start = stop

    def _start_of(self, place: int) -> int:
        return int(self.stops[place - 1]) if place else self.start


class JoinedTexts(Sequence[str]):
    """The same with texts, in UTF-8.

    >>> JoinedTexts.of(["a", "né"])[1]
    'né'
    """

    __slots__ = ("joined",)

    def __init__(self, joined: Joined) -> None:
        self.joined = joined

    @classmethod
    def of(cls, texts: Iterable[str]) -> "JoinedTexts":
        if isinstance(texts, JoinedTexts):
            return texts
        return cls(Joined.of([text.encode() for text in texts]))

    def __len__(self) -> int:
        return len(self.joined)

    def __getitem__(self, place: Any) -> Any:
        """One of them; slices are for whoever knows their bytes."""
        return self.joined[place].decode()
