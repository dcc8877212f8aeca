"""Sensor alerts with a window: the two worst of the last ten minutes, at every moment.

It prints:

    09:00  #1 server room 71  just in
    09:02  #2 attic 64        just in
    09:04  #2 boiler 68       just in
    09:10  #2 attic 66        a hotter one left the window
    09:14  #2 boiler 62       a hotter one left the window
"""

import json

import shortlist

REGISTRY = shortlist.registry_from_documents(
    {
        "subscriptions": [
            {
                "id": "on duty",
                "where": "celsius > 60 and room not in ('test bench', 'kiln')",
                "score": "celsius",
                "policy": {"kind": "window", "k": 2, "window": "10m"},
            }
        ]
    }
)

READINGS = [  # minute, room, degrees
    (0, "server room", 71),
    (1, "kiln", 900),
    (2, "attic", 64),
    (4, "boiler", 68),
    (5, "garage", 58),
    (6, "attic", 66),
    (13, "boiler", 62),
]


def main() -> None:
    lines = [
        json.dumps(
            {
                "id": f"{room} {celsius}",
                "source": "sensors",
                "time": f"2026-03-01T09:{minute:02}:00Z",
                "data": {"room": room, "celsius": celsius},
            }
        )
        for minute, room, celsius in READINGS
    ]
    for delivery in shortlist.replay(REGISTRY, lines).deliveries:
        document = delivery.document()
        why = "a hotter one left the window" if delivery.cause == "promotion" else "just in"
        print(f"{document['time'][11:16]}  #{delivery.rank} {delivery.publication.id:15} {why}")


if __name__ == "__main__":
    main()
