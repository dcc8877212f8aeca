"""One policy behind the other: a fuzzy match, then the most relevant ones, then a novelty budget.

It prints:

    short enough 334 items: football 224, politics 83, chess 27; entropy 1.18 of 1.58 bits
    and relevant 242 items: football 159, politics 60, chess 23; entropy 1.22 of 1.58 bits
    and novel     55 items: football 19, politics 19, chess 17; entropy 1.58 of 1.58 bits
"""

import json
from collections import Counter

import shortlist
from shortlist.measures.spread import entropy

TITLES = {  # by topic, what is asked for and what else is written
    "football": ("football cup final", "the cup", "a football club"),
    "politics": ("budget vote", "the vote", "a minister and the budget"),
    "chess": ("chess opening", "the opening", "a chess club"),
}
Policy = dict[str, object]
BEST: Policy = {"kind": "window", "k": 3, "window": "2h"}
BUDGET: Policy = {"kind": "novelty", "rate": 0.3, "period": 10}
STAGES: dict[str, list[Policy]] = {
    "short enough": [{"kind": "everything"}],
    "and relevant": [BEST],
    "and novel": [BEST, BUDGET],
}
SHORT = {"trapezoid": [None, None, 300, 900]}


def stream() -> list[str]:
    """400 items; football comes up eight times as often as chess."""
    pattern = ["football"] * 8 + ["politics"] * 3 + ["chess"]
    return [
        json.dumps(
            {
                "id": f"n{n}",
                "source": "news",
                "time": f"2026-03-{1 + n // 96:02}T{n // 4 % 24:02}:{n % 4 * 15:02}:00Z",
                "data": {
                    "topic": topic,
                    "title": TITLES[topic][n // 12 % 3],
                    "words": 150 + n * 71 % 900,
                },
            }
        )
        for n in range(400)
        for topic in [pattern[n * 5 % len(pattern)]]
    ]


def feed(policies: list[Policy]) -> Counter[str]:
    """How many items of each topic a reader gets."""
    registry = shortlist.registry_from_documents(
        {
            "vocabulary": {"words": {"type": "number", "terms": {"short": SHORT}}},
            "shortlists": [{"id": "feed", "subscriber": "reader", "policy": policies}],
            "subscriptions": [
                {
                    "id": topic,
                    "shortlist": "feed",
                    "where": f"topic = '{topic}' and words is short",
                    "score": f"relevance(title, '{wanted}') * possibility",
                }
                for topic, (wanted, *_) in TITLES.items()
            ],
        }
    )
    return Counter(made.subscription for made in shortlist.replay(registry, stream()).deliveries)


def main() -> None:
    for name, policies in STAGES.items():
        received = feed(policies)
        shown = ", ".join(f"{topic} {received[topic]}" for topic in TITLES)
        spread = entropy([received[topic] for topic in TITLES])
        print(f"{name:12} {received.total():3} items: {shown}; entropy {spread:.2f} of 1.58 bits")


if __name__ == "__main__":
    main()
