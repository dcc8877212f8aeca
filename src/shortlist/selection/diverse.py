"""The policy `diverse`: k of a sliding window that are good and far apart."""

from collections.abc import Iterable
from typing import NamedTuple

from shortlist.model.paths import format_path
from shortlist.model.policy import Diverse
from shortlist.model.rounding import rounded
from shortlist.selection.base import outranked
from shortlist.selection.differences import Differences, Traits, margin
from shortlist.selection.window import Held, WindowSelector


class _Option(NamedTuple):
    """One that may be chosen next, and how far the nearest of the chosen is from it."""

    held: Held
    traits: Traits
    nearest: float = 1.0


class DiverseSelector(WindowSelector):
    """Chooses anew at each instant, one after the other, from all that is in the window."""

    def __init__(self, policy: Diverse, shortlist: str) -> None:
        super().__init__(policy, shortlist)
        self._weight = policy.weight
        self._names = ", ".join(format_path(aspect.path) for aspect in policy.over)
        self._differences = Differences(policy.over)

    def _best_first(self, held: Held) -> tuple[float, int, int]:
        """Only who wins ties: values depend on what is chosen."""
        publication = held.candidate.publication
        return 0.0, -publication.time, -publication.position

    def _chosen(self) -> list[Held]:
        chosen: list[Held] = []
        options = [_Option(held, self._traits(held)) for held in self._ranked]
        while options and len(chosen) < self._k:
            best = max(options, key=self._value)  # of equals the first
            chosen.append(best.held)
            options = [
                option._replace(nearest=min(option.nearest, self._distance(option, best)))
                for option in options
                if option.traits != best.traits
            ]
        return chosen

    def _contenders(self) -> list[Held]:
        """Those who may still be chosen, though nobody is taken back: docs/diverse.md."""
        options = [_Option(held, self._traits(held)) for held in self._ranked]
        return [option.held for option in options if not self._is_hopeless(option, options)]

    def _is_hopeless(self, option: _Option, options: Iterable[_Option]) -> bool:
        """Whether one alike is always worth more, or k that differ from each other are."""
        better = {
            other.traits
            for other in options
            if other is not option and self._is_always_worth_more(other, option)
        }
        return option.traits in better or len(better) >= self._k

    def _is_always_worth_more(self, one: _Option, other: _Option) -> bool:
        if not self._outlasts(one.held, other.held):
            return False
        share, other_share = self._share(one), self._share(other)
        is_alike = self._weight == 0.0 or one.traits == other.traits
        if is_alike and self._best_first(one.held) < self._best_first(other.held):
            return share >= other_share
        distance = 0.0 if is_alike else self._weight * self._distance(one, other)
        return share - other_share > distance + margin(share, other_share)

    def _outlasts(self, one: Held, other: Held) -> bool:
        is_pushed_no_earlier = self._count is None or one.turn >= other.turn
        is_of_one = one.candidate.named.subscription == other.candidate.named.subscription
        return is_of_one and is_pushed_no_earlier and self._ends_no_earlier(one, other)

    def _share(self, option: _Option) -> float:
        return (1.0 - self._weight) * option.held.candidate.score

    def _refusal(self, arrival: Held) -> str:
        traits = self._traits(arrival)
        if any(self._traits(held) == traits for held in self._chosen()):
            return f"one that does not differ in {self._names} is chosen"
        return outranked(self._k, "chosen")

    def _traits(self, held: Held) -> Traits:
        return self._differences.traits(held.candidate.publication)

    def _distance(self, option: _Option, best: _Option) -> float:
        return self._differences.distance(option.traits, best.traits)

    def _value(self, option: _Option) -> float:
        score = option.held.candidate.score
        return rounded((1.0 - self._weight) * score + self._weight * option.nearest)
