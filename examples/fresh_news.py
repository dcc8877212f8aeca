"""A front page that ages: a story is worth half as much every three hours.

It prints:

    by score:
      06:00 flood    #1 0.900
      07:00 strike   #2 0.600
      13:00 concert  #2 0.700
      21:00 budget   #2 0.550
      03:00 match    #2 0.300
    by what is left of it:
      06:00 flood    #1 0.900
      07:00 strike   #2 0.600
      10:00 election #1 0.500
      13:00 concert  #1 0.700
      16:00 match    #2 0.300
      18:00 budget   #1 0.550
"""

import json

import shortlist

STORIES = {
    "flood": ("06:00", 0.9),
    "strike": ("07:00", 0.6),
    "election": ("10:00", 0.5),
    "concert": ("13:00", 0.7),
    "match": ("16:00", 0.3),
    "budget": ("18:00", 0.55),
}
POLICIES = {
    "by score": {"kind": "window", "k": 2, "window": "14h"},
    "by what is left of it": {"kind": "fresh", "k": 2, "window": "14h", "half_life": "3h"},
}


def main() -> None:
    lines = [
        json.dumps(
            {
                "id": story,
                "source": "news",
                "time": f"2026-03-01T{clock}:00Z",
                "data": {"interest": interest},
            }
        )
        for story, (clock, interest) in STORIES.items()
    ]
    for name, policy in POLICIES.items():
        page = {"id": "front page", "score": "interest", "policy": policy}
        registry = shortlist.registry_from_documents({"subscriptions": [page]})
        print(f"{name}:")
        for delivery in shortlist.replay(registry, lines).deliveries:
            clock = delivery.document()["time"][11:16]
            print(f"  {clock} {delivery.publication.id:8} #{delivery.rank} {delivery.score:.3f}")


if __name__ == "__main__":
    main()
