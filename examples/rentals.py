"""Rentals with fuzzy facts: what is asked for is vague, and so is what is published.

It prints:

    careful  attic  possible 0.60  certain 0.60
    hopeful  attic  possible 0.60  certain 0.60
    hopeful  loft   possible 1.00  certain 0.00
    hopeful  studio possible 0.25  certain 0.25
    careful  house  possible 0.50  certain 0.50
    hopeful  house  possible 0.50  certain 0.50
"""

import json

import shortlist

REGISTRY = shortlist.registry_from_documents(
    {
        "vocabulary": {
            "rent": {
                "type": "number",
                "terms": {"cheap": {"trapezoid": [None, None, 1200, 1500]}},
            },
            "size": {"type": "number", "terms": {"roomy": {"trapezoid": [40, 60, None, None]}}},
        },
        "subscriptions": [
            # How far it may be true counts; 1,400 a month is still a little cheap.
            {"id": "hopeful", "where": "rent is cheap and size is roomy"},
            # Only what is certain: a landlord's "between 1100 and 1600" is not.
            {
                "id": "careful",
                "where": "rent is cheap and size is roomy",
                "score": "necessity",
                "at_least": {"necessity": 0.5},
            },
        ],
    }
)

FLATS = {
    "attic": {"rent": 1150, "size": 52},
    "loft": {"rent": {"between": [1100, 1600]}, "size": 75},
    "studio": {"rent": {"term": "cheap"}, "size": 45},
    "villa": {"rent": 2900, "size": 180},
    "house": {"rent": 1350, "size": {"trapezoid": [70, 80, 90, 100]}},
}


def main() -> None:
    lines = [
        json.dumps({"id": name, "source": "ads", "time": f"2026-03-01T09:0{n}:00Z", "data": data})
        for n, (name, data) in enumerate(FLATS.items())
    ]
    for delivery in shortlist.replay(REGISTRY, lines).deliveries:
        print(
            f"{delivery.subscriber:8} {delivery.publication.id:7}"
            f"possible {delivery.possibility:.2f}  certain {delivery.necessity:.2f}"
        )


if __name__ == "__main__":
    main()
