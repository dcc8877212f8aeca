"""Three offers that are not three times the same one: good rentals, far apart in rent and area.

It prints:

    window:
      #1 old harbour 1 980 harbour
      #2 old harbour 2 990 harbour
      #3 old harbour 3 990 harbour
    diverse:
      #1 old harbour 1 980 harbour
      #2 old harbour 2 990 harbour
      #2 hill view     1250 hill
      #3 station loft  700 centre
"""

import json

import shortlist

FLATS = [  # name, rent, area, how well it fits
    ("old harbour 1", 980, "harbour", 0.95),
    ("old harbour 2", 990, "harbour", 0.94),
    ("old harbour 3", 990, "harbour", 0.93),
    ("hill view", 1250, "hill", 0.78),
    ("old harbour 4", 1010, "harbour", 0.92),
    ("station loft", 700, "centre", 0.66),
    ("mill house", 1600, "river", 0.58),
]
POLICIES = {
    "window": {"kind": "window", "k": 3, "window": None},
    "diverse": {
        "kind": "diverse",
        "k": 3,
        "window": None,
        # rents that are 500 apart are as far apart as can be; areas are the same or different
        "over": {"rent": 500, "area": None},
        "weight": 0.4,
    },
}


def main() -> None:
    lines = [
        json.dumps(
            {
                "id": name,
                "source": "ads",
                "time": f"2026-03-01T09:0{minute}:00Z",
                "data": {"rent": rent, "area": area, "fit": fit},
            }
        )
        for minute, (name, rent, area, fit) in enumerate(FLATS)
    ]
    for name, policy in POLICIES.items():
        search = {"id": "search", "score": "fit", "policy": policy}
        registry = shortlist.registry_from_documents({"subscriptions": [search]})
        print(f"{name}:")
        for delivery in shortlist.replay(registry, lines).deliveries:
            flat = delivery.publication.data
            print(f"  #{delivery.rank} {delivery.publication.id:13} {flat['rent']} {flat['area']}")


if __name__ == "__main__":
    main()
