"""Which advertisements publications are induced by, and how far they may reach."""

from collections.abc import Callable, Sequence

from shortlist.matching.blocks import Block
from shortlist.matching.index.index import Index
from shortlist.matching.values import Values
from shortlist.model.advertisement import Advertisement
from shortlist.model.items import Items
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.selection.audience import Inducement


class Inducements:
    """The live advertisements, asked about many publications at once."""

    def __init__(self, vocabulary: Vocabulary, limits: Limits) -> None:
        self._values = Values(vocabulary)
        self._index = Index(vocabulary, limits)
        self._live: dict[str, Advertisement] = {}

    def add(self, advertisement: Advertisement) -> None:
        self._live[advertisement.id] = advertisement
        self._index.add(Subscription(id=advertisement.id, where=advertisement.where))

    def remove(self, advertisement: str) -> None:
        del self._live[advertisement]
        self._index.remove(advertisement)

    def define(self, advertisements: Sequence[Advertisement], change: Callable[[], None]) -> None:
        """Changes the vocabulary, while those whose meaning that changes are not here."""
        for each in advertisements:
            self.remove(each.id)
        change()
        for each in advertisements:
            self.add(each)

    def of(self, publications: Items) -> Sequence[Inducement | None]:
        """What the publishers' advertisements say; None where none applies."""
        induced: list[Inducement | None] = [None] * len(publications)
        if not self._live or not len(publications):
            return induced
        found = self._index.match_block(Block.of_items(publications, self._values))
        sources = publications.values("source")
        audiences = publications.values("audience")
        inducing: dict[int, list[Advertisement]] = {}
        for place, number in zip(
            found.publications.tolist(), found.subscriptions.tolist(), strict=True
        ):
            advertisement = self._live[self._index.numbering.names[number]]
            if advertisement.source == sources[place]:
                inducing.setdefault(place, []).append(advertisement)
        for place, some in inducing.items():
            k, audience = max(each.k for each in some), audiences[place]
            k = k if audience is None else min(k, int(audience))
            induced[place] = Inducement(k, min(each.id for each in some))
        return induced
