"""Why a publication is on a shortlist, or is not: the same result, with its reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shortlist.engine.halves import Matching, Selecting
from shortlist.language.parser import parse_where
from shortlist.language.printer import print_where
from shortlist.language.tree import Predicate
from shortlist.matching.base import Match
from shortlist.matching.conditions import condition, predicates
from shortlist.matching.predicates import Judgement, judge
from shortlist.matching.values import Reader
from shortlist.model.delivery import Delivery
from shortlist.model.publication import Publication
from shortlist.model.subscription import Subscription
from shortlist.model.times import format_time
from shortlist.scoring.candidates import Candidate
from shortlist.selection.audience import Inducement
from shortlist.selection.base import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Which pairs to explain: without a shortlist every one that a publication matches."""

    publication: str | None = None
    source: str | None = None
    shortlist: str | None = None

    def is_about(self, publication: Publication) -> bool:
        return self.publication in (None, publication.id) and self.source in (
            None,
            publication.source,
        )


class Explainer:
    """Listens to an engine and keeps the reasons that a question asks for."""

    def __init__(self, question: Question, matching: Matching, selecting: Selecting) -> None:
        self._question = question
        self._matching = matching
        self._selecting = selecting
        self._explanations: list[dict[str, Any]] = []

    def turned_away(self, publication: Publication, reason: str) -> None:
        """A publication that nobody was asked about."""
        if self._question.is_about(publication):
            self._explanations.append(
                {
                    **_heading(publication, self._question.shortlist),
                    "delivered": False,
                    "reason": reason,
                }
            )

    def published(
        self,
        publication: Publication,
        read: Reader,
        candidates: Sequence[Candidate],
        outcomes: Mapping[str, Outcome],
        inducement: Inducement | None,
    ) -> None:
        """A publication that was offered to every shortlist that it matches and was chosen for."""
        if not self._question.is_about(publication):
            return
        by_shortlist = {candidate.shortlist: candidate for candidate in candidates}
        asked = self._question.shortlist
        for shortlist in sorted(by_shortlist) if asked is None else [asked]:
            explanation = self._arrival(
                publication, shortlist, by_shortlist.get(shortlist), outcomes.get(shortlist), read
            )
            if inducement is not None:
                explanation["audience"] = inducement._asdict()
            self._explanations.append(explanation)

    def taken(self, deliveries: Sequence[Delivery]) -> list[dict[str, Any]]:
        """The explanations since the last call, with the promotions that came later among them."""
        for delivery in deliveries:
            asked = self._question.shortlist in (None, delivery.shortlist)
            if (
                delivery.cause == "promotion"
                and asked
                and self._question.is_about(delivery.publication)
            ):
                self._explanations.append(_promotion(delivery))
        explanations, self._explanations = self._explanations, []
        return explanations

    def _arrival(
        self,
        publication: Publication,
        shortlist: str,
        candidate: Candidate | None,
        outcome: Outcome | None,
        read: Reader,
    ) -> dict[str, Any]:
        explanation = _heading(publication, shortlist)
        if shortlist not in self._matching.roster.shortlists:
            return {**explanation, "delivered": False, "reason": "there is no such shortlist then"}
        members = sorted(self._matching.roster.members(shortlist))
        explanation["subscriptions"] = [self._subscription(name, read) for name in members]
        if candidate is None:
            return {**explanation, "delivered": False, "reason": "no subscription matches"}
        explanation["score"] = candidate.score
        explanation["subscription"] = candidate.named.subscription
        if outcome is None:
            return {**explanation, "delivered": False, "reason": "not in the publisher's audience"}
        above = self._selecting.selector(shortlist).above(candidate)
        explanation["above"] = [standing._asdict() for standing in above]
        explanation["delivered"] = outcome.refusal is None
        explanation["reason"] = outcome.refusal or "delivered at arrival"
        for placed in outcome.placements:
            if placed.candidate is candidate:
                explanation |= {
                    "rank": placed.rank,
                    "score": placed.score,
                    "subscription": placed.named.subscription,
                }
        return explanation

    def _subscription(self, name: str, read: Reader) -> dict[str, Any]:
        subscription = self._matching.roster.subscriptions[name]
        vocabulary = self._matching.values.vocabulary
        where = None
        if subscription.where is not None:
            where = parse_where(subscription.where, vocabulary, self._matching.limits)
        possibility, necessity = condition(where, vocabulary, subscription.norm)(read)
        scored, reason = self._scored(subscription, possibility, necessity, read)
        return {
            "id": name,
            "matches": scored is not None,
            "reason": reason,
            "possibility": possibility,
            "necessity": necessity,
            "score": scored,
            "predicates": [
                _predicate(predicate, judge(predicate, vocabulary)(read(predicate.path)))
                for predicate in predicates(where)
            ],
        }

    def _scored(
        self, subscription: Subscription, possibility: float, necessity: float, read: Reader
    ) -> tuple[float | None, str]:
        at_least = subscription.at_least
        if possibility == 0.0:
            return None, "its condition does not hold"
        if possibility < at_least.possibility:
            return None, f"possibility {possibility:g} is under {at_least.possibility:g}"
        if necessity < at_least.necessity:
            return None, f"necessity {necessity:g} is under {at_least.necessity:g}"
        scored = self._matching.scoring.scored(Match(subscription.id, possibility, necessity), read)
        if scored is None:
            return None, "its score cannot be computed or is under at_least.score"
        return scored.score, "matches"


def _predicate(predicate: Predicate, judgement: Judgement) -> dict[str, Any]:
    document = {"text": print_where(predicate), **judgement.degrees._asdict()}
    return document if judgement.note is None else {**document, "note": judgement.note}


def _heading(publication: Publication, shortlist: str | None) -> dict[str, Any]:
    return {
        "time": format_time(publication.time),
        "publication": publication.id,
        "source": publication.source,
        "shortlist": shortlist,
    }


def _promotion(delivery: Delivery) -> dict[str, Any]:
    heading = _heading(delivery.publication, delivery.shortlist)
    return {
        **heading,
        "time": format_time(delivery.time),
        "delivered": True,
        "reason": "promoted: better ones left the window",
        "rank": delivery.rank,
        "score": delivery.score,
        "subscription": delivery.subscription,
    }
