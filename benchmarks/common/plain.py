"""The oracle: what the plain matcher says to the same films and conditions."""

from collections.abc import Sequence

from shortlist.matching.scan import Scan
from shortlist.matching.values import Values
from shortlist.model.subscription import Subscription

from .compiled import Compiled
from .movies import VOCABULARY, Movies


def agrees_with_plain(subscriptions: Sequence[Subscription], movies: Movies) -> bool:
    """Whether the index finds the same pairs with the same degrees.

    >>> from .compiled import subscriptions_of
    >>> from .conditions import Around
    >>> from .movies import generated_movies
    >>> agrees_with_plain(subscriptions_of([Around("year", 1980, 10)]), generated_movies(100))
    True
    """
    scan, values = Scan(VOCABULARY), Values(VOCABULARY)
    for subscription in subscriptions:
        scan.add(subscription)
    expected = {
        (publication.position, *match)
        for publication in movies.publications()
        for match in scan.match(values.of(publication))
    }
    (found,) = Compiled.of(subscriptions).blocks(movies, size=len(movies))
    columns = found.publications, found.subscriptions, found.possibility, found.necessity
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return expected == {
        (place, subscriptions[number].id, possibility, necessity)
        for place, number, possibility, necessity in rows
    }
