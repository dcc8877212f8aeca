"""Candidates as JSON values, for snapshots."""

from typing import Any

from shortlist.model.publication import Publication
from shortlist.scoring.candidates import Candidate
from shortlist.scoring.combine import ScoredMatch


def publication_record(publication: Publication) -> list[Any]:
    return [getattr(publication, name) for name in Publication.__slots__]


def recorded_publication(record: list[Any]) -> Publication:
    return Publication(**dict(zip(Publication.__slots__, record, strict=True)))


def candidate_record(candidate: Candidate) -> list[Any]:
    """What a policy may still need of a candidate: the matches beside the named one are not."""
    return [publication_record(candidate.publication), candidate.score, list(candidate.named)]


def recorded_candidate(record: list[Any], shortlist: str) -> Candidate:
    publication, score, named = record
    match = ScoredMatch(*named)
    return Candidate(recorded_publication(publication), shortlist, score, match, (match,))
