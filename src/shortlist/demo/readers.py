"""The readers of the city and their shortlists, as the documents of a registry."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from shortlist.demo.city import SEED, VOCABULARY
from shortlist.demo.featured import FEATURED
from shortlist.demo.habits import HABITS
from shortlist.demo.wishes import Wish

Document = dict[str, Any]

ADVERTISEMENTS: tuple[Document, ...] = (
    # Dear homes are shown to few, the most loyal readers first.
    {
        "id": "estate-gold/dear",
        "source": "estate-gold",
        "where": "rent is dear (possibility >= 0.5)",
        "k": 12,
        "score": "subscription.profile.loyalty",
    },
    # A gala goes to those who want it most.
    {"id": "cinema-lux/gala", "source": "cinema-lux", "where": "gala = true", "k": 40},
    # Rooms for students: the narrower a search, the likelier the viewing.
    {
        "id": "campus-rooms/small",
        "source": "campus-rooms",
        "where": "size < 30",
        "k": 30,
        "score": "-subscription.volume",
    },
)


@dataclass
class Readers:
    """Writes wishes down as shortlists and subscriptions."""

    shortlists: list[Document] = field(default_factory=list)
    subscriptions: list[Document] = field(default_factory=list)

    def take(self, reader: str, wish: Wish, profile: Mapping[str, float] | None = None) -> None:
        name = f"{reader}/{wish.topic}"
        shared = {"profile": profile} if profile else {}
        if wish.is_plain:
            (asked,) = wish.asks.values()
            own = {"subscriber": reader, "policy": wish.policy}
            self.subscriptions.append({"id": name, **own, **asked, **shared})
            return
        shortlist = {
            "id": name,
            "subscriber": reader,
            "policy": wish.policy,
            "combine": wish.combine,
            "prefers": [[f"{name}/{part}" for part in pair] for pair in wish.prefers],
        }
        self.shortlists.append({key: value for key, value in shortlist.items() if value})
        for part, asked in wish.asks.items():
            self.subscriptions.append(
                {"id": f"{name}/{part}", "shortlist": name, **asked, **shared}
            )


def registry_document(readers: int, seed: int = SEED) -> Document:
    """The whole registry: the featured readers come first, the others repeat common habits.

    >>> document = registry_document(40)
    >>> len({entry["subscriber"] for entry in document["shortlists"] + document["subscriptions"]
    ...      if "subscriber" in entry})
    40
    """
    rng = random.Random(seed)
    written = Readers()
    for number, wishes in enumerate(islice(FEATURED, readers), start=1):
        for wish in wishes:
            written.take(reader_name(number), wish)
    for number in range(len(FEATURED) + 1, readers + 1):
        turn, habit = divmod(number - len(FEATURED) - 1, len(HABITS))
        profile = {"loyalty": float(rng.randint(0, 100))}
        for wish in HABITS[habit](rng, turn):
            written.take(reader_name(number), wish, profile)
    return {
        "vocabulary": VOCABULARY,
        "shortlists": written.shortlists,
        "subscriptions": written.subscriptions,
        "advertisements": list(ADVERTISEMENTS),
    }


def reader_name(number: int) -> str:
    return f"reader-{number:04d}"
