"""What is live beside the scoring that looks at it, as a registry has them."""

from shortlist.intake.roster import Roster
from shortlist.model.command import Close, Open, Subscribe, Unsubscribe
from shortlist.scoring.candidates import Scoring

PLACE = {"time": 0, "position": 0}


class LiveScoring(Scoring):
    def __init__(self, vocabulary) -> None:
        self._roster = Roster(vocabulary)
        super().__init__(vocabulary, live=self._roster.live)

    def opened(self, shortlist) -> None:
        self._roster.apply(Open(shortlist=shortlist, **PLACE))

    def closed(self, name) -> None:
        self.close(name)
        for member in self.members[name]:
            self.forget(self.subscriptions[member])
        self._roster.apply(Close(shortlist=name, **PLACE))

    def added(self, subscription) -> None:
        self.reopen(subscription.shortlist_id)
        self._roster.apply(Subscribe(subscription=subscription, **PLACE))

    def removed(self, name) -> None:
        self.forget(self.subscriptions[name])
        self._roster.apply(Unsubscribe(subscription=name, **PLACE))
