"""From matches to candidates: matches in, one scored candidate per shortlist out."""

import math
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from shortlist.covering.condition_graph import ConditionGraph, condition_graph
from shortlist.covering.graph import Entry
from shortlist.covering.volume import volume
from shortlist.fuzzy.degrees import Degrees
from shortlist.language.parser import parse_any_score, parse_any_where
from shortlist.language.tree import Where
from shortlist.matching.base import Match
from shortlist.matching.values import Reader
from shortlist.model.publication import Publication
from shortlist.model.registry import Live
from shortlist.model.rounding import rounded
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.scoring.combine import ScoredMatch, combined
from shortlist.scoring.expression import Evaluate, Scored, Subject, Uncomputable, expression
from shortlist.scoring.levels import levels


@dataclass(frozen=True, slots=True)
class Candidate:
    """A publication that matches a shortlist, with its score there."""

    publication: Publication
    shortlist: str
    score: float
    named: ScoredMatch
    matches: tuple[ScoredMatch, ...]


class _Scorer:
    """One subscription's score."""

    def __init__(self, subscription: Subscription, vocabulary: Vocabulary, limits: Limits) -> None:
        self.subscription = subscription
        self._vocabulary = vocabulary
        self._limits = limits

    @cached_property
    def _evaluate(self) -> Evaluate:
        score = parse_any_score(self.subscription.score, self._limits)
        return expression(score, self._vocabulary)

    def score(self, subject: Subject) -> float:
        """The rounded score; raises `Uncomputable` where there is none."""
        score = self._evaluate(subject)
        if not math.isfinite(score):
            raise Uncomputable("the result", "finite", score)
        return rounded(score)

    @cached_property
    def where(self) -> Where | None:
        return parse_any_where(self.subscription.where, self._vocabulary, self._limits)

    @property
    def entry(self) -> Entry[Where | None]:
        return Entry(self.subscription.id, self.where, self.subscription.score)

    @cached_property
    def volume(self) -> float:
        return volume(self.where)


class ScoreTooLow(Exception):
    """A score under its subscription's static threshold."""


class Scoring:
    """Scores matches and combines them per shortlist; looks at what is live as it changes."""

    def __init__(
        self, vocabulary: Vocabulary, limits: Limits | None = None, live: Live | None = None
    ) -> None:
        self._vocabulary = vocabulary
        self._limits = limits or Limits()
        self.shortlists, self.subscriptions, self.members = live or Live.nobody()
        self._scorers: dict[str, _Scorer] = {}
        self._levels: dict[str, dict[str, int]] = {}
        self._graphs: dict[str, ConditionGraph] = {}

    def reopen(self, shortlist: str) -> None:
        """A shortlist gets other settings or other subscriptions."""
        self._levels.pop(shortlist, None)

    def close(self, shortlist: str) -> None:
        """A shortlist goes, and its subscriptions are forgotten one by one."""
        self._graphs.pop(shortlist, None)

    def forget(self, subscription: Subscription) -> None:
        """One goes, or gets other settings: drops what follows from those that it has."""
        name, shortlist = subscription.id, subscription.shortlist_id
        self.reopen(shortlist)
        self._scorers.pop(name, None)
        if name in self._graphs.get(shortlist, ()):
            self._graphs[shortlist].remove(name)

    def candidates(
        self, publication: Publication, read: Reader, matches: Iterable[Match]
    ) -> list[Candidate]:
        """One candidate per shortlist that still matches once scores are known, in order of id."""
        scored: dict[str, list[ScoredMatch]] = defaultdict(list)
        for match in matches:
            try:
                found = self.scored(match, read)
            except (Uncomputable, ScoreTooLow):
                continue
            scored[self.subscriptions[match.subscription].shortlist_id].append(found)
        return self.combined(publication, scored)

    def combined(
        self, publication: Publication, scored: Mapping[str, list[ScoredMatch]]
    ) -> list[Candidate]:
        """One candidate per shortlist with matches, which are in order of id; so are they."""
        candidates = (
            self._candidate(publication, shortlist, scored[shortlist])
            for shortlist in sorted(scored)
        )
        return [candidate for candidate in candidates if math.isfinite(candidate.score)]

    def scored(self, match: Match, read: Reader) -> ScoredMatch:
        """The match with its score; raises `Uncomputable` or `ScoreTooLow` where it has none."""
        scorer = self._scorer(match.subscription)
        subscription = scorer.subscription
        degrees = Degrees(match.possibility, match.necessity)
        score = scorer.score(Subject(read, degrees))
        least = subscription.at_least.score
        if least is not None and score < least:
            raise ScoreTooLow(f"score {score!r} is under at_least.score {least!r}")
        level = self.level(subscription.id, self.shortlists[subscription.shortlist_id])
        if level is not None:
            score = -float(level)
        weight, refresh = subscription.weight, subscription.refresh
        return ScoredMatch(subscription.id, score, *degrees, weight, refresh)

    def level(self, subscription: str, shortlist: Shortlist) -> int | None:
        """How far down its shortlist's preferences a subscription stands, if there are any."""
        if not shortlist.prefers:
            return None
        if shortlist.id not in self._levels:
            self._levels[shortlist.id] = levels(shortlist.prefers, self.members[shortlist.id])
        return self._levels[shortlist.id].get(subscription)

    def most_specific(self, names: Sequence[str]) -> Container[str]:
        """Those subscriptions of one shortlist that cover no other one of them.

        A shortlist's graph takes conditions in as they match.
        """
        if len(names) == 1:
            return names
        shortlist = self.subscriptions[names[0]].shortlist_id
        if shortlist not in self._graphs:
            entries = [self._scorer(name).entry for name in names]
            self._graphs[shortlist] = condition_graph(self._vocabulary, entries)
        graph = self._graphs[shortlist]
        for name in names:
            if name not in graph:
                graph.insert(*self._scorer(name).entry)
        return graph.most_specific(names)

    def volume(self, subscription: str) -> float:
        """Of a subscription's hyper-rectangle."""
        return self._scorer(subscription).volume

    def described(self, candidate: Candidate) -> Scored:
        """What an advertisement's score may ask about a candidate."""
        scorer = self._scorer(candidate.named.subscription)
        return Scored(candidate.score, scorer.volume, scorer.subscription.profile)

    def _candidate(
        self, publication: Publication, shortlist: str, matches: list[ScoredMatch]
    ) -> Candidate:
        how = self.shortlists[shortlist].combine
        counted = matches
        if how == "most_specific":
            specific = self.most_specific([match.subscription for match in matches])
            counted = [match for match in matches if match.subscription in specific]
        score, named = combined(how, counted)
        return Candidate(publication, shortlist, score, named, tuple(matches))

    def _scorer(self, subscription: str) -> _Scorer:
        if subscription not in self._scorers:
            known = self.subscriptions[subscription]
            self._scorers[subscription] = _Scorer(known, self._vocabulary, self._limits)
        return self._scorers[subscription]
