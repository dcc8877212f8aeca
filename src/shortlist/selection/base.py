"""The protocol of policies: candidates arrive, time passes, subscriptions and candidates go."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

from shortlist.model.delivery import Cause
from shortlist.model.publication import Publication
from shortlist.scoring.candidates import Candidate
from shortlist.scoring.combine import ScoredMatch

T = TypeVar("T")


class Placement(NamedTuple):
    """A candidate that enters its shortlist."""

    time: int
    candidate: Candidate
    score: float
    named: ScoredMatch
    rank: int | None
    cause: Cause


class Standing(NamedTuple):
    """A publication that stands in a shortlist."""

    source: str
    publication: str
    score: float


class Shown(NamedTuple):
    """A publication that a shortlist shows; None where its policy does not keep that."""

    publication: Publication
    subscription: str | None
    score: float
    possibility: float | None
    necessity: float | None
    rank: int
    until: int | None
    """When it leaves, if nothing happens before."""
    in_window: bool = False
    """Whether it leaves with a window, if it does not expire."""
    push: int | None = None
    """The match that pushes it out of a count window."""
    waiting: bool = False
    """Whether it waits to be delivered yet; its rank is as if it were now."""


def placed_at_once(candidate: Candidate, now: int, rank: int | None = None) -> Placement:
    """As it arrives."""
    return Placement(now, candidate, candidate.score, candidate.named, rank, "arrival")


class Outcome(NamedTuple):
    """What an arrival led to; `refusal` says why the arrival itself was not placed."""

    placements: list[Placement]
    refusal: str | None = None


Remark = Callable[[int, Candidate, str], None]
"""Takes when a candidate that had arrived before was dropped, and why."""


def nobody_listens(time: int, candidate: Candidate, why: str) -> None:
    """The remark of whoever does not want to know."""


class Selector:
    """One shortlist's policy with all its state. Calls come in order of time.

    What a policy does not say, it does as one that places a publication at its arrival or never.
    Of a match that comes with a candidate policies may use the subscription, the degrees and the
    `refresh` at arrival; scores and weights of single matches are known to plain engines only.
    """

    def arrive(self, candidate: Candidate, now: int) -> Outcome:
        """A publication comes that this shortlist matches and was chosen for."""
        raise NotImplementedError

    def advance(self, before: int) -> list[Placement]:
        """Everything that is due before an instant happens, at its own instant."""
        return []

    def settle(self, time: int) -> list[Placement]:
        """Everything that is due at or before an instant happens."""
        return []

    def cancel(self, subscription: str, time: int) -> list[Placement]:
        """A subscription of this shortlist goes."""
        return []

    def retract(self, source: str, publication: str, time: int) -> list[Placement]:
        """A publication is taken back: it leaves at an instant, after all that is due before.

        Who has it not in its `state` may not hear of it.
        """
        return []

    def refresh(self, subscription: str, span: int | None) -> None:
        """A subscription has another `refresh` from now on."""

    def change(self, policy: Any, time: int) -> list[Placement]:
        """The policy becomes another one that keeps what is held; nothing was due by then."""
        return []

    def above(self, candidate: Candidate) -> list[Standing]:
        """Who stands above a candidate that has just arrived: the k best at most, best first."""
        return []

    def next_due(self) -> int | None:
        """When something happens next, though nothing comes."""
        return None

    def matches(self) -> int:
        """How many matches a count window has seen so far; 0 where there is none."""
        return 0

    def shown(self, now: int) -> list[Shown]:
        """What is on the shortlist once all that is due at or before an instant has happened, the
        best first."""
        return []

    def listen(self, remark: Remark) -> None:
        """Somebody wants to know why what has arrived is dropped later."""

    def state(self) -> Any:
        """All that a later `restore` needs beside the policy, as JSON values and publications."""
        return None

    def restore(self, state: Any) -> None:
        """Goes on from a state, with nothing seen before."""


def undominated(ranked: Iterable[T], k: int, outlasts: Callable[[T, T], bool]) -> list[T]:
    """Of some in order of rank, the best first, those that fewer than k better ones outlast.

    Nobody else ever comes among the k best: fast policies keep no more, and plain ones count no
    more. If one of the k is taken back later, it is gone all the same.

    >>> undominated([("a", 3), ("b", 5), ("c", 4)], 1, lambda one, other: one[1] >= other[1])
    [('a', 3), ('b', 5)]
    """
    kept: list[T] = []
    for one in ranked:
        if sum(outlasts(better, one) for better in kept) < k:
            kept.append(one)
    return kept


def outranked(k: int, where: str) -> str:
    """Why an arrival was refused: the shortlist is full of better ones.

    >>> outranked(1, "still valid"), outranked(3, "in the window")
    ('a better one is still valid', '3 better ones are in the window')
    """
    return f"a better one is {where}" if k == 1 else f"{k} better ones are {where}"
