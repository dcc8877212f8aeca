"""The protocol of policies: candidates arrive, time passes, subscriptions and candidates go."""

from typing import Any, NamedTuple, Protocol

from shortlist.model.delivery import Cause
from shortlist.scoring.candidates import Candidate
from shortlist.scoring.combine import ScoredMatch


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


class Outcome(NamedTuple):
    """What an arrival led to; `refusal` says why the arrival itself was not placed."""

    placements: list[Placement]
    refusal: str | None = None


class Selector(Protocol):
    """One shortlist's policy with all its state. Calls come in order of time."""

    def arrive(self, candidate: Candidate, now: int) -> Outcome:
        """A publication comes that this shortlist matches and was chosen for."""
        ...

    def advance(self, before: int) -> list[Placement]:
        """Everything that is due before an instant happens, at its own instant."""
        ...

    def settle(self, time: int) -> list[Placement]:
        """Everything that is due at or before an instant happens."""
        ...

    def cancel(self, subscription: str, time: int) -> list[Placement]:
        """A subscription of this shortlist goes."""
        ...

    def retract(self, source: str, publication: str, time: int) -> list[Placement]:
        """A publication is taken back: it leaves at an instant, after all that is due before."""
        ...

    def refresh(self, subscription: str, span: int | None) -> None:
        """A subscription has another `refresh` from now on."""
        ...

    def change(self, policy: Any) -> None:
        """The policy becomes another one that keeps what is held; nothing is due now."""
        ...

    def above(self, candidate: Candidate) -> list[Standing]:
        """Who stands above a candidate that has just arrived: the k best at most, best first."""
        ...

    def state(self) -> Any:
        """All that a later `restore` needs, as JSON values."""
        ...

    def restore(self, state: Any) -> None: ...


def outranked(k: int, where: str) -> str:
    """Why an arrival was refused: the shortlist is full of better ones.

    >>> outranked(1, "still valid"), outranked(3, "in the window")
    ('a better one is still valid', '3 better ones are in the window')
    """
    return f"a better one is {where}" if k == 1 else f"{k} better ones are {where}"


class ArrivalSelector:
    """What policies share that place a publication at its arrival or never."""

    def advance(self, before: int) -> list[Placement]:
        return []

    def settle(self, time: int) -> list[Placement]:
        return []

    def cancel(self, subscription: str, time: int) -> list[Placement]:
        return []

    def retract(self, source: str, publication: str, time: int) -> list[Placement]:
        return []

    def refresh(self, subscription: str, span: int | None) -> None:
        pass

    def change(self, policy: Any) -> None:
        pass

    def above(self, candidate: Candidate) -> list[Standing]:
        return []
