"""How a plain shard selects: one object for every shortlist."""

from collections import Counter
from collections.abc import Callable, Iterable

from shortlist.model.delivery import Delivery
from shortlist.model.policy import Policy
from shortlist.model.policy_changes import kept_by
from shortlist.model.shortlist import Shortlist
from shortlist.model.subscription import Subscription
from shortlist.scoring.candidates import Candidate
from shortlist.selection.base import Outcome, Placement, Remark, Selector, nobody_listens
from shortlist.selection.policies import selector


class PlainSelecting:
    """Candidates in, deliveries out; every shortlist's policy with its state."""

    def __init__(self) -> None:
        self._shortlists: dict[str, Shortlist] = {}
        self._selectors: dict[str, Selector] = {}
        self._last_policies: dict[str, Policy] = {}
        self.remark: Remark = nobody_listens
        """Hears why shortlists drop what had arrived before."""
        self.counts: Counter[str] = Counter()

    def open(self, shortlist: Shortlist) -> None:
        self._shortlists[shortlist.id] = shortlist
        self._last_policies[shortlist.id] = shortlist.policy
        self._selectors[shortlist.id] = selector(shortlist)
        self._selectors[shortlist.id].listen(self.remark)

    def close(self, shortlist: str, time: int) -> list[Delivery]:
        deliveries = self._deliveries(shortlist, self._selectors.pop(shortlist).settle(time))
        del self._shortlists[shortlist]
        return deliveries

    def cancel(self, shortlist: str, subscription: str, time: int) -> list[Delivery]:
        placements = self._selectors[shortlist].cancel(subscription, time)
        return self._deliveries(shortlist, placements)

    def update(self, shortlist: Shortlist, time: int) -> list[Delivery]:
        """Settings change, after all that is due at or before an instant."""
        selecting = self._selectors[shortlist.id]
        deliveries = self._deliveries(shortlist.id, selecting.settle(time))
        if not kept_by(self._shortlists[shortlist.id].policy, shortlist.policy):
            self.open(shortlist)
            return deliveries
        self._shortlists[shortlist.id] = shortlist
        changed = selecting.change(shortlist.policy, time)
        return deliveries + self._deliveries(shortlist.id, changed)

    def refresh(self, subscription: Subscription) -> None:
        """A live subscription may have another `refresh` from now on."""
        selecting = self._selectors[subscription.shortlist_id]
        selecting.refresh(subscription.id, subscription.refresh)

    def retract(self, source: str, publication: str, time: int) -> list[Delivery]:
        """A publication leaves every shortlist at an instant, after all that is due before."""
        return self._told(lambda selecting: selecting.retract(source, publication, time))

    def arrive(self, candidate: Candidate) -> tuple[list[Delivery], Outcome]:
        """Offers a candidate to its shortlist."""
        self.counts["matched"] += 1
        time = candidate.publication.time
        outcome = self._selectors[candidate.shortlist].arrive(candidate, time)
        return self._deliveries(candidate.shortlist, outcome.placements), outcome

    def advance(self, before: int) -> list[Delivery]:
        """Everything due before an instant, in every shortlist."""
        return self._told(lambda selecting: selecting.advance(before))

    def last_policy(self, shortlist: str) -> Policy:
        """Of a shortlist, even if that was closed since."""
        return self._last_policies[shortlist]

    def selector(self, shortlist: str) -> Selector:
        return self._selectors[shortlist]

    def _told(self, tell: Callable[[Selector], list[Placement]]) -> list[Delivery]:
        deliveries = []
        for name, selecting in self._selectors.items():
            placements = tell(selecting)
            if placements:
                deliveries += self._deliveries(name, placements)
        return deliveries

    def _deliveries(self, name: str, placements: Iterable[Placement]) -> list[Delivery]:
        shortlist = self._shortlists[name]
        deliveries = [
            Delivery(
                time=placed.time,
                shortlist=name,
                subscriber=shortlist.subscriber,
                publication=placed.candidate.publication,
                subscription=placed.named.subscription,
                score=placed.score,
                possibility=placed.named.possibility,
                necessity=placed.named.necessity,
                rank=placed.rank,
                cause=placed.cause,
            )
            for placed in placements
        ]
        for delivery in deliveries:
            self.counts[delivery.cause] += 1
        return deliveries
