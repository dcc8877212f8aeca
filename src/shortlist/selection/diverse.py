"""The policy `diverse`: k of a sliding window that are good and far apart."""

from typing import NamedTuple

from shortlist.model.paths import format_path
from shortlist.model.policy import Diverse
from shortlist.model.rounding import rounded
from shortlist.selection.base import outranked
from shortlist.selection.differences import Differences, Traits
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
