"""Seeded generators of subscriptions' conditions, with values that the films themselves have."""

import random
from collections.abc import Callable

from .conditions import All, Around, Condition, Fuzzy, Not, Range, Some, Trapezoid, Word
from .movies import NUMBERS, Movies

ASKED = {"year": 22, "length": 22, "rating": 22, "votes": 18, "genre": 10, "budget": 4, "mpaa": 2}
"""How likely an attribute is to be the first that a conjunction asks for, in percent."""
NEGATED = 0.15
"""How likely a part of a nested condition is to be denied."""


class Palette:
    """What predicates are drawn from: the films' own values, each as often as it occurs."""

    def __init__(self, movies: Movies, seed: int) -> None:
        self.random = random.Random(seed)
        self._titles: list[str] = movies.table["title"].to_pylist()
        self._genres: list[str] = movies.table["genre"].combine_chunks().flatten().to_pylist()
        self._certificates: list[str] = movies.table["mpaa"].drop_null().to_pylist()
        self._sorted: dict[str, list[float]] = {
            name: sorted(movies.table[name].drop_null().to_pylist()) for name in NUMBERS
        }

    def attributes(self, count: int) -> list[str]:
        """Different attributes."""
        waits = {name: self.random.expovariate(weight) for name, weight in ASKED.items()}
        return sorted(waits, key=waits.__getitem__)[:count]

    def predicate(self, attribute: str, width: float) -> Range | Word:
        """A range that holds about that share of the films, with one end or two; or an equality."""
        if attribute == "genre":
            return Word("genre", "=", self.random.choice(self._genres))
        if attribute == "mpaa":
            return Word("mpaa", "=", self.random.choice(self._certificates))
        match self.random.randrange(4):
            case 0:
                return Range(attribute, low=self._at(attribute, 1 - self._share(width)))
            case 1:
                return Range(attribute, high=self._at(attribute, self._share(width)))
        return self.between(attribute, width)

    def between(self, attribute: str, width: float) -> Range:
        start, end = self._span(width)
        return Range(attribute, self._at(attribute, start), self._at(attribute, end))

    def fuzzy(self, attribute: str, width: float) -> Fuzzy:
        """A fuzzy predicate whose support holds about that share of the films."""
        start, end = self._span(width)
        if self.random.random() < 0.5:
            core = sorted(self.random.uniform(start, end) for _ in range(2))
            foot, left, right, other_foot = (
                self._at(attribute, share) for share in (start, *core, end)
            )
            return Trapezoid(attribute, (foot, left, right, other_foot))
        centre = self._at(attribute, (start + end) / 2)
        spread = round(centre - self._at(attribute, start), 1)
        return Around(attribute, centre, spread or 1)

    def word(self) -> Word:
        """A word of some title, anywhere in it."""
        return Word("title", "contains", self.random.choice(self._title().split()))

    def any_word(self) -> Word:
        """A word of some title, mostly anywhere in it, or a whole title."""
        title = self._title()
        match self.random.randrange(10):
            case 0:
                return Word("title", "=", title)
            case 1:
                return Word("title", "ends with", title.split()[-1])
            case 2 | 3:
                return Word("title", "starts with", title.split()[0])
        return self.word()

    def _title(self) -> str:
        return self.random.choice(self._titles)

    def _share(self, width: float) -> float:
        return min(1.0, width * self.random.uniform(0.5, 1.5))

    def _span(self, width: float) -> tuple[float, float]:
        share = self._share(width)
        start = self.random.uniform(0, 1 - share)
        return start, start + share

    def _at(self, attribute: str, share: float) -> float:
        values = self._sorted[attribute]
        return values[int(share * (len(values) - 1))]


def ranges(palette: Palette) -> All:
    """Three numeric ranges with two ends each."""
    names = palette.random.sample(("year", "length", "rating", "votes"), 3)
    return All(tuple(palette.between(name, 0.14) for name in names))


def selective(palette: Palette) -> All:
    """Two to five predicates; about 0.29 % of the films match."""
    return _conjunction(palette, 0.082)


def broad(palette: Palette) -> All:
    """Two to five predicates; about 5.8 % of the films match."""
    return _conjunction(palette, 0.42)


def strings(palette: Palette) -> All:
    """One or two predicates on the title, one or two on genre, certificate and rating."""
    words = [palette.any_word(), palette.word()][: palette.random.randint(1, 2)]
    label = "mpaa" if palette.random.random() < 0.1 else "genre"
    others = [palette.predicate(label, 0.5), palette.predicate("rating", 0.5)]
    return All((*words, *palette.random.sample(others, palette.random.randint(1, 2))))


def fuzzy(palette: Palette) -> All:
    """Two to four predicates, fuzzy wherever the attribute is a number."""
    names = palette.attributes(palette.random.randint(2, 4))
    return All(
        tuple(
            palette.fuzzy(name, 0.2) if name in NUMBERS else palette.predicate(name, 0.2)
            for name in names
        )
    )


def deep(palette: Palette) -> All:
    """A predicate and alternatives of conjunctions, three or four levels in all."""
    (name,) = palette.attributes(1)
    first = palette.predicate(name, 0.1)
    return All((first, _nested(palette, palette.random.randint(2, 3), Some)))


def _conjunction(palette: Palette, width: float) -> All:
    names = palette.attributes(palette.random.randint(2, 5))
    return All(tuple(palette.predicate(name, width) for name in names))


def _nested(palette: Palette, depth: int, level: type[All] | type[Some]) -> Condition:
    below = All if level is Some else Some
    depths = [depth - 1, palette.random.choice((0, depth - 1))]
    palette.random.shuffle(depths)
    group = level(
        tuple(_nested(palette, left, below) if left else _leaf(palette) for left in depths)
    )
    return Not(group) if palette.random.random() < NEGATED else group


def _leaf(palette: Palette) -> Condition:
    (name,) = palette.attributes(1)
    leaf = palette.predicate(name, 0.1)
    return Not(leaf) if palette.random.random() < NEGATED else leaf


MIXES: dict[str, Callable[[Palette], All]] = {
    mix.__name__: mix for mix in (ranges, selective, broad, strings, fuzzy, deep)
}


def draw_conditions(mix: str, count: int, movies: Movies, seed: int = 1) -> list[All]:
    """The conditions of a number of subscriptions; fewer of them are the first of more."""
    palette = Palette(movies, seed)
    return [MIXES[mix](palette) for _ in range(count)]
