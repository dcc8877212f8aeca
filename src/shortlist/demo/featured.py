"""The readers whose shortlists the screen shows."""

from shortlist.demo.wishes import Wish, best_of, novelty, top

FEATURED: tuple[tuple[Wish, ...], ...] = (
    (
        Wish(
            topic="homes",
            policy=best_of("1d", 3),
            asks={
                "central": {
                    "where": "district is central and rent is very cheap and size is medium",
                    "norm": "product",
                    "score": "0.6 * possibility + 0.4 * necessity",
                }
            },
        ),
    ),
    (
        Wish(
            topic="films",
            policy=top(1),
            asks={
                "comedies": {"where": "genre = 'comedy' and cinema in ('Lux', 'Orion')"},
                "dramas": {"where": "genre = 'drama' and rating is good"},
                "station": {"where": "cinema = 'Station' and genre in ('comedy', 'drama')"},
            },
            prefers=(("comedies", "dramas"), ("dramas", "station")),
        ),
    ),
    (
        Wish(
            topic="river",
            policy=best_of("40m", 2),
            asks={
                "high": {
                    "where": "kind = 'water' and severity is serious (possibility >= 0.3)",
                    "score": "severity",
                }
            },
        ),
    ),
    (
        Wish(
            topic="sensors",
            policy=novelty(0.05, 200, mode="eager", measure="interval"),
            asks={
                "air": {"where": "kind = 'air' and severity > 1"},
                "noise": {"where": "kind = 'noise' and severity > 1"},
                "water": {"where": "kind = 'water' and severity > 1"},
                "any": {"where": "severity >= 4.5"},
            },
        ),
    ),
    (
        Wish(
            topic="homes",
            policy=top(3, refresh="12h"),
            asks={
                "any": {"where": "district = 'Parkside'", "score": 0.3},
                "rooms": {"where": "district = 'Parkside' and rooms >= 2", "score": 0.6},
                "ideal": {
                    "where": "district = 'Parkside' and rooms >= 2 and floor >= 1",
                    "score": "0.6 + 0.2 * cosine(embedding, [1, 0.4, 0.8, 0])"
                    " + 0.2 * relevance(description, 'quiet balcony park')",
                },
            },
            combine="most_specific",
        ),
    ),
)
