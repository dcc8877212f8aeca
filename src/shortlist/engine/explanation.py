"""Why a publication is on a shortlist, or is not: the same result, with its reasons."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shortlist.fuzzy.degrees import Degrees
from shortlist.language.printer import print_where
from shortlist.language.tree import Predicate, predicates
from shortlist.matching.base import Match
from shortlist.matching.coarse import asked_at_least, asked_where, told
from shortlist.matching.conditions import condition
from shortlist.matching.predicates import Judgement, judge
from shortlist.matching.values import Reader
from shortlist.model.delivery import Delivery
from shortlist.model.policy import Diverse, Fresh, Policy, Window, policies_of
from shortlist.model.publication import Publication
from shortlist.model.subscription import Subscription
from shortlist.model.times import format_time, parse_time
from shortlist.scoring.candidates import Candidate, ScoreTooLow
from shortlist.scoring.expression import Uncomputable
from shortlist.selection.audience import Inducement, Nomination
from shortlist.selection.base import Outcome

if TYPE_CHECKING:
    from shortlist.engine.plain import PlainMatching, PlainSelecting

Document = dict[str, Any]
SLIDING = (Window, Fresh, Diverse)
"""Policies that may promote what was outranked before."""


# Called between the steps of long work; raises to give it up.
Check = Callable[[], object]


def unchecked() -> None:
    """Let the work go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Which pairs to explain: without a shortlist every one that a publication matches."""

    publication: str | None = None
    source: str | None = None
    shortlist: str | None = None
    # Called after each publication and before each subscription that is explained: a shortlist may
    # have thousands of them, and each is explained by plain Python.
    check: Check = field(default=unchecked, compare=False, repr=False)

    def is_about(self, publication: Publication) -> bool:
        is_it = self.publication in (None, publication.id)
        return is_it and self.source in (None, publication.source)


class Explainer:
    """Listens to an engine and keeps the reasons that a question asks for.

    One that listens to a shard does not know who else is a candidate in the others.
    """

    def __init__(
        self,
        question: Question,
        matching: PlainMatching,
        selecting: PlainSelecting,
        *,
        of_a_shard: bool = False,
    ) -> None:
        self._question = question
        self._matching = matching
        self._selecting = selecting
        self._of_a_shard = of_a_shard
        self._explanations: list[Document] = []
        selecting.remark = self.dropped

    def turned_away(self, publication: Publication, reason: str) -> None:
        """A publication that nobody was asked about."""
        if self._question.is_about(publication):
            self._explanations.append(_refused(publication, self._question.shortlist, reason))

    def dropped(self, time: int, candidate: Candidate, why: str) -> None:
        """A publication that waited is not delivered, or waits once more."""
        asked = self._question.shortlist in (None, candidate.shortlist)
        if asked and self._question.is_about(candidate.publication):
            explanation = _refused(candidate.publication, candidate.shortlist, why)
            self._explanations.append({**explanation, "time": format_time(time)})

    def published(
        self,
        publication: Publication,
        read: Reader,
        candidates: Sequence[Candidate],
        outcomes: Mapping[str, Outcome],
        inducement: Inducement | None,
    ) -> None:
        """A publication that was offered to every shortlist that it matches and was chosen for."""
        self._question.check()
        if not self._question.is_about(publication):
            return
        by_shortlist = {candidate.shortlist: candidate for candidate in candidates}
        ranking = self._ranking(inducement, read, candidates)
        asked = self._question.shortlist
        for shortlist in sorted(by_shortlist) if asked is None else [asked]:
            candidate, outcome = by_shortlist.get(shortlist), outcomes.get(shortlist)
            explanation = self._arrival(publication, shortlist, candidate, outcome, read)
            if inducement is not None and candidate is not None:
                limits = _audience(inducement, ranking, shortlist)
                explanation["audience"] = limits | (
                    {} if self._of_a_shard else _competition(inducement, ranking, shortlist)
                )
            self._explanations.append(explanation)
        if asked is None and not candidates and not self._of_a_shard:
            self._explanations.append(_refused(publication, None, "no shortlist matches"))

    def taken(self, deliveries: Sequence[Delivery]) -> list[Document]:
        """The explanations since the last call, in order of time, then the promotions."""
        self._explanations.sort(key=lambda explanation: parse_time(explanation["time"]))
        for delivery in deliveries:
            asked = self._question.shortlist in (None, delivery.shortlist)
            promoted = delivery.cause == "promotion"
            if promoted and asked and self._question.is_about(delivery.publication):
                policy = self._selecting.last_policies[delivery.shortlist]
                self._explanations.append(_promotion(delivery, policy))
        explanations, self._explanations = self._explanations, []
        return explanations

    def _ranking(
        self, inducement: Inducement | None, read: Reader, candidates: Sequence[Candidate]
    ) -> list[Nomination]:
        """Every candidate, in the publisher's order."""
        if inducement is None:
            return []
        everyone = inducement._replace(k=len(candidates))
        return self._matching.nominations(everyone, read, candidates)

    def _arrival(
        self,
        publication: Publication,
        shortlist: str,
        candidate: Candidate | None,
        outcome: Outcome | None,
        read: Reader,
    ) -> Document:
        if shortlist not in self._matching.roster.shortlists:
            return _refused(publication, shortlist, "there was no such shortlist at that time")
        members = sorted(self._matching.roster.members(shortlist))
        asked: Document = {"subscriptions": [self._subscription(name, read) for name in members]}
        if candidate is None:
            return _refused(publication, shortlist, "no subscription matches") | asked
        asked |= {"score": candidate.score, "subscription": candidate.named.subscription}
        if outcome is None:
            reason = "not in the publisher's audience"
            return _refused(publication, shortlist, reason) | asked
        above = self._selecting.selector(shortlist).above(candidate)
        asked["above"] = [standing._asdict() for standing in above]
        if outcome.refusal is not None:
            return _refused(publication, shortlist, outcome.refusal) | asked
        explanation = _heading(publication, shortlist, True, "delivered at arrival") | asked
        for placed in outcome.placements:
            if placed.candidate.publication is publication:
                explanation["rank"], explanation["score"] = placed.rank, placed.score
                explanation["subscription"] = placed.named.subscription
        return explanation

    def _subscription(self, name: str, read: Reader) -> Document:
        self._question.check()
        subscription = self._matching.roster.subscriptions[name]
        vocabulary = self._matching.values.vocabulary
        limits = self._matching.limits
        where = asked_where(subscription.where, vocabulary, limits)
        degrees = condition(where, vocabulary, subscription.norm)(read)
        score, reason = self._scored(subscription, degrees, read)
        possibility, necessity = told(degrees, limits) if degrees.possibility else degrees
        return {
            "id": name,
            "matches": score is not None,
            "reason": reason,
            "possibility": possibility,
            "necessity": necessity,
            "score": score,
            "predicates": [
                _predicate(predicate, judge(predicate, vocabulary)(read(predicate.path)))
                for predicate in predicates(where)
            ],
        }

    def _scored(
        self, subscription: Subscription, degrees: Degrees, read: Reader
    ) -> tuple[float | None, str]:
        limits = self._matching.limits
        least = asked_at_least(subscription.at_least, limits)
        possibility, necessity = degrees
        if possibility == 0.0:
            return None, "its condition does not hold"
        if possibility < least.possibility:
            return None, _under("possibility", possibility, least.possibility)
        if necessity < least.necessity:
            return None, _under("necessity", necessity, least.necessity)
        match = Match(subscription.id, *told(degrees, limits))
        try:
            return self._matching.scoring.scored(match, read).score, "matches"
        except Uncomputable as error:
            return None, f"its score cannot be computed: {error}"
        except ScoreTooLow as error:
            return None, str(error)


def _under(name: str, degree: float, least: float) -> str:
    return f"{name} {degree!r} is under at_least.{name} {least!r}"


def _predicate(predicate: Predicate, judgement: Judgement) -> Document:
    document = {"text": print_where(predicate), **judgement.degrees._asdict()}
    return document if judgement.note is None else {**document, "note": judgement.note}


def _heading(
    publication: Publication, shortlist: str | None, delivered: bool, reason: str
) -> Document:
    return {
        "time": format_time(publication.time),
        "publication": publication.id,
        "source": publication.source,
        "shortlist": shortlist,
        "delivered": delivered,
        "reason": reason,
    }


def _refused(publication: Publication, shortlist: str | None, reason: str) -> Document:
    return _heading(publication, shortlist, False, reason)


def _promotion(delivery: Delivery, policy: Policy) -> Document:
    policies = policies_of(policy)
    reason = "promoted: better ones left"
    if any(each.waits for each in policies):
        may_slide = any(isinstance(each, SLIDING) for each in policies)
        also = ", or better ones left" if may_slide else ""
        reason = f"released: it had waited{also}"
    return {
        **_heading(delivery.publication, delivery.shortlist, True, reason),
        "time": format_time(delivery.time),
        "rank": delivery.rank,
        "score": delivery.score,
        "subscription": delivery.subscription,
    }


def _audience(inducement: Inducement, ranking: Sequence[Nomination], shortlist: str) -> Document:
    """What the publisher's advertisement makes of a shortlist."""
    (score,) = (best.score for best in ranking if best.shortlist == shortlist)
    return {**inducement._asdict(), "score": _json_number(score)}


def _competition(inducement: Inducement, ranking: Sequence[Nomination], shortlist: str) -> Document:
    """Where a shortlist stands in the publisher's order, and who the k best are."""
    order = [nomination.shortlist for nomination in ranking]
    return {
        "place": order.index(shortlist) + 1,
        "of": len(ranking),
        "chosen": [
            {"shortlist": best.shortlist, "score": _json_number(best.score)}
            for best in ranking[: inducement.k]
        ],
    }


def _json_number(score: float | None) -> float | str | None:
    """JSON has no infinite numbers."""
    if score is None or math.isfinite(score):
        return score
    return "infinity" if score > 0 else "-infinity"
