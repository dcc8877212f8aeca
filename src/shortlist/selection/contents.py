"""What shortlists show at an instant: the present content of plain selectors."""

from typing import NamedTuple

from shortlist.model.policy import Everything, Novelty, Policy, policies_of
from shortlist.selection.base import Selector
from shortlist.selection.chain import ChainSelector
from shortlist.selection.everything import EverythingSelector
from shortlist.selection.preferential import PreferentialSelector
from shortlist.selection.window import Held, WindowSelector


class Shown(NamedTuple):
    """A publication that a shortlist shows; None where its policy does not keep that."""

    source: str
    publication: str
    subscription: str | None
    score: float
    possibility: float | None
    necessity: float | None
    rank: int
    until: int | None
    """When it leaves, if nothing happens before."""


def shows(policy: Policy) -> bool:
    """Whether shortlists with a policy show anything; else deliveries pass by.

    >>> from shortlist.model.policy import Chain, TopK
    >>> shows(Chain((TopK(k=3), Everything()))), shows(Everything())
    (True, False)
    """
    choosing = [each for each in policies_of(policy) if not isinstance(each, Everything)]
    return bool(choosing) and not isinstance(choosing[-1], Novelty)


def content(selecting: Selector, now: int) -> list[Shown]:
    """The best first. All that is due at or before the instant must have happened."""
    match selecting:
        case ChainSelector():
            choosing = [each for each in selecting._policies if not _passes_on(each)]
            return content(choosing[-1], now) if choosing else []
        case PreferentialSelector():
            return _valid(selecting, now)
        case WindowSelector():
            shown = (
                _shown(selecting, held, rank, now)
                for rank, held in enumerate(selecting._chosen(), start=1)
                if held.delivered
            )
            return [one for one in shown if one.until is None or one.until > now]
    return []


def _passes_on(selecting: Selector) -> bool:
    return isinstance(selecting, EverythingSelector)


def _valid(selecting: PreferentialSelector, now: int) -> list[Shown]:
    """Of equal scores what is valid longest stands first, then what came last.

    So the bank, which keeps no more than can still count, shows the same.
    """
    valid = [kept for kept in reversed(selecting._valid) if kept.end is None or kept.end > now]
    valid.sort(key=lambda kept: (-kept.standing.score, kept.end is not None, -(kept.end or 0)))
    scores = [kept.standing.score for kept in valid]
    return [
        Shown(
            source=kept.standing.source,
            publication=kept.standing.publication,
            subscription=None,
            score=kept.standing.score,
            possibility=None,
            necessity=None,
            rank=1 + scores.index(kept.standing.score),
            until=kept.end,
        )
        for kept in valid[: selecting._policy.k]
    ]


def _shown(selecting: WindowSelector, held: Held, rank: int, now: int) -> Shown:
    publication, named = held.candidate.publication, held.candidate.named
    return Shown(
        source=publication.source,
        publication=publication.id,
        subscription=named.subscription,
        score=selecting._worth(held.candidate, now),
        possibility=named.possibility,
        necessity=named.necessity,
        rank=rank,
        until=selecting._end(held),
    )
