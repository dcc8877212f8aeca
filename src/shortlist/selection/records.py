"""What plain policies keep, as JSON values and back; publications stand in it by number."""

from collections.abc import Callable
from typing import Any

from shortlist.model.publication import Publication
from shortlist.scoring.candidates import Candidate
from shortlist.scoring.combine import ScoredMatch


def candidate_record(candidate: Candidate) -> list[Any]:
    """All but the shortlist; a match that is the only one is the one that is named."""
    matches = [list(match) for match in candidate.matches]
    return [
        candidate.publication,
        candidate.score,
        list(candidate.named),
        [] if candidate.matches == (candidate.named,) else matches,
    ]


def recorded_candidate(record: list[Any], shortlist: str) -> Candidate:
    publication, score, named, matches = record
    match = ScoredMatch(*named)
    others = tuple(ScoredMatch(*each) for each in matches)
    return Candidate(publication, shortlist, score, match, others or (match,))


def numbered(state: Any, number: Callable[[Publication], int]) -> Any:
    """A selector's state as JSON values, with a number for every publication.

    >>> flat = Publication(id="p", source="ads", time=0, position=1)
    >>> numbered({"best": [flat, 0.5]}, lambda publication: 7)
    {'values': {'best': [{'publication': 7}, 0.5]}}
    """
    match state:
        case Publication():
            return {"publication": number(state)}
        case dict():
            # kept apart from those that stand for publications, whatever its keys are
            return {"values": {key: numbered(value, number) for key, value in state.items()}}
        case list() | tuple():
            return [numbered(value, number) for value in state]
    return state


def restored(values: Any, publication: Callable[[int], Publication]) -> Any:
    """The state that these values were.

    >>> flat = Publication(id="p", source="ads", time=0, position=1)
    >>> restored({"values": {"best": [{"publication": 7}, 0.5]}}, {7: flat}.__getitem__)["best"][1]
    0.5
    """
    match values:
        case {"publication": number}:
            return publication(number)
        case {"values": state}:
            return {key: restored(value, publication) for key, value in state.items()}
        case list():
            return [restored(value, publication) for value in values]
    return values
