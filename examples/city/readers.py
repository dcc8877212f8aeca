"""The readers of the city and their shortlists, as the documents of a registry."""

import random
from typing import Any

from examples.city.city import SEED
from examples.city.habits import HABITS, Wish
from examples.city.tables import CITY

FEATURED = [Wish(**wish) for wish in CITY["featured"]]


def registry_document(readers: int, seed: int = SEED) -> dict[str, Any]:
    """The whole registry: the featured readers come first, the others repeat common habits.

    >>> document = registry_document(40)
    >>> len({entry["subscriber"] for entry in document["shortlists"] + document["subscriptions"]
    ...      if "subscriber" in entry})
    40
    """
    rng = random.Random(seed)
    shortlists: list[dict[str, Any]] = []
    subscriptions: list[dict[str, Any]] = []
    for number in range(readers):
        reader, shared, wishes = reader_name(number + 1), {}, FEATURED[number : number + 1]
        if not wishes:
            turn, habit = divmod(number - len(FEATURED), len(HABITS))
            shared = {"profile": {"loyalty": float(rng.randint(0, 100))}}
            wishes = list(HABITS[habit](rng, turn))
        for wish in wishes:
            name = f"{reader}/{wish.topic}"
            made = {"id": name, "subscriber": reader, "policy": wish.policy}
            if len(wish.asks) == 1 and wish.combine is None:
                (asked,) = wish.asks.values()  # one subscription carries the shortlist itself
                subscriptions.append({**made, **asked, **shared})
                continue
            prefers = [[f"{name}/{part}" for part in pair] for pair in wish.prefers]
            how = {"combine": wish.combine, "prefers": prefers}
            shortlists.append({**made, **{key: value for key, value in how.items() if value}})
            subscriptions += [
                {"id": f"{name}/{part}", "shortlist": name, **asked, **shared}
                for part, asked in wish.asks.items()
            ]
    return {
        "vocabulary": CITY["vocabulary"],
        "shortlists": shortlists,
        "subscriptions": subscriptions,
        "advertisements": CITY["advertisements"],
    }


def reader_name(number: int) -> str:
    return f"reader-{number:04d}"
