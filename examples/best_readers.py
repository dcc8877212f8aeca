"""A publisher reaches its k best: an advertisement bounds the audience from the other side.

It prints:

    lamp   reaches low, narrow, wide
    chair  reaches low
    print  reaches middle, narrow
    flyer  reaches low, middle, narrow, wide
"""

import json

import shortlist

REGISTRY = shortlist.registry_from_documents(
    {
        "subscriptions": [
            {"id": "wide", "where": "price between 0 and 500", "profile": {"orders": 12}},
            {"id": "narrow", "where": "price between 80 and 120", "profile": {"orders": 1}},
            {"id": "low", "where": "price < 300", "profile": {"orders": 40}},
            {"id": "high", "where": "price > 200", "profile": {"orders": 99}},
            {"id": "middle", "where": "price between 50 and 150"},
        ],
        "advertisements": [
            # Loyal customers first; who has no `orders` in the profile comes last.
            {"id": "offers", "source": "shop", "k": 3, "score": "subscription.profile.orders"},
            # Those who asked for the narrowest range first.
            {"id": "niche", "source": "gallery", "k": 2, "score": "-subscription.volume"},
        ],
    }
)

PUBLICATIONS = [
    {"id": "lamp", "source": "shop", "data": {"price": 100}},
    {"id": "chair", "source": "shop", "audience": 1, "data": {"price": 90}},
    {"id": "print", "source": "gallery", "data": {"price": 100}},
    {"id": "flyer", "source": "town hall", "data": {"price": 100}},
]


def main() -> None:
    lines = [
        json.dumps({"time": f"2026-03-01T09:0{n}:00Z", **publication})
        for n, publication in enumerate(PUBLICATIONS)
    ]
    reached: dict[str, list[str]] = {publication["id"]: [] for publication in PUBLICATIONS}
    for delivery in shortlist.replay(REGISTRY, lines).deliveries:
        reached[delivery.publication.id].append(delivery.subscriber)
    for publication, subscribers in reached.items():
        print(f"{publication:6} reaches {', '.join(subscribers)}")


if __name__ == "__main__":
    main()
