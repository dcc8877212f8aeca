"""The two floodings: everyone hears every publication, or every subscription."""

from shortlist.overlay.broker import Broker
from shortlist.overlay.messages import Proxies, Publications, Send


class PublicationFlooding(Broker):
    """Subscriptions stay at home; every publication goes everywhere."""

    def _announce(self, news: Proxies) -> list[Send]:
        return []

    def _route(self, sender: str | None, message: Publications, hop: int) -> list[Send]:
        self._local.take(message.items)
        return [Send(name, message, hop + 1) for name in self._place.neighbours if name != sender]


class SubscriptionFlooding(Broker):
    """Every broker knows every subscription; publications go straight to those who want them."""

    sends_directly = True

    def _announce(self, news: Proxies) -> list[Send]:
        return [Send(name, news) for name in self._place.neighbours]

    def _hear(self, sender: str, message: Proxies, hop: int) -> list[Send]:
        onward = [Send(name, message, hop + 1) for name in self._place.neighbours if name != sender]
        return onward + self._learn(message.home, message, hop)

    def _route(self, sender: str | None, message: Publications, hop: int) -> list[Send]:
        self._local.take(message.items)
        if sender is not None:
            return []
        return self._pass_on(message, {self.name}, hop)
