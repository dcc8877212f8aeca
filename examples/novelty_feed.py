"""A feed that stays varied: a budget of deliveries, spent on what came up least so far.

It prints:

    everything: 500 items: football 320, politics 120, chess 40, opera 20
      entropy 1.38 of 2 bits, fairness 0.53
    novelty: 76 items: football 19, politics 19, chess 19, opera 19
      entropy 2.00 of 2 bits, fairness 1.00
"""

import json
from collections import Counter

import shortlist
from shortlist.measures.spread import entropy, fairness

TOPICS = {"football": 16, "politics": 6, "chess": 2, "opera": 1}  # shares of the news, of 25
POLICIES = {
    "everything": {"kind": "everything"},
    "novelty": {"kind": "novelty", "rate": 0.2, "period": 25},
}


def stream() -> list[str]:
    """500 items in which one topic drowns the others."""
    pattern = [topic for topic, share in TOPICS.items() for _ in range(share)]
    topics = [pattern[n * 7 % len(pattern)] for n in range(500)]
    return [
        json.dumps(
            {
                "id": f"n{n}",
                "source": "news",
                "time": f"2026-03-01T{n // 60:02}:{n % 60:02}:00Z",
                "data": {"topic": topic},
            }
        )
        for n, topic in enumerate(topics)
    ]


def feed(policy: dict[str, object]) -> Counter[str]:
    """How many items of each topic a reader gets."""
    registry = shortlist.registry_from_documents(
        {
            "shortlists": [{"id": "feed", "subscriber": "reader", "policy": policy}],
            "subscriptions": [
                {"id": topic, "shortlist": "feed", "where": f"topic = '{topic}'"}
                for topic in TOPICS
            ],
        }
    )
    deliveries = shortlist.replay(registry, stream()).deliveries
    return Counter(delivery.subscription for delivery in deliveries)


def main() -> None:
    for name, policy in POLICIES.items():
        received = feed(policy)
        counts = [received[topic] for topic in TOPICS]
        shown = ", ".join(f"{topic} {count}" for topic, count in zip(TOPICS, counts, strict=True))
        print(f"{name}: {sum(counts)} items: {shown}")
        print(f"  entropy {entropy(counts):.2f} of 2 bits, fairness {fairness(counts):.2f}")


if __name__ == "__main__":
    main()
