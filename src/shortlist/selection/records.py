"""Candidates as JSON values, for snapshots."""

from typing import Any

from shortlist.model.publication import Publication
from shortlist.scoring.candidates import Candidate
from shortlist.scoring.combine import ScoredMatch

KEPT = ("id", "source", "time", "position", "type", "expiry", "audience", "data")
"""What it replaces is gone when a publication is kept."""


def publication_record(publication: Publication) -> list[Any]:
    return [getattr(publication, name) for name in KEPT]


def recorded_publication(record: list[Any]) -> Publication:
    return Publication(**dict(zip(KEPT, record, strict=True)))


def candidate_record(candidate: Candidate) -> list[Any]:
    """All but the shortlist; a match that is the only one is the one that is named."""
    matches = [list(match) for match in candidate.matches]
    return [
        publication_record(candidate.publication),
        candidate.score,
        list(candidate.named),
        [] if candidate.matches == (candidate.named,) else matches,
    ]


def recorded_candidate(record: list[Any], shortlist: str) -> Candidate:
    publication, score, named, matches = record
    match = ScoredMatch(*named)
    return Candidate(
        recorded_publication(publication),
        shortlist,
        score,
        match,
        tuple(ScoredMatch(*each) for each in matches) or (match,),
    )
