"""Film night with preferences: "rather this than that" in place of numbers.

It prints:

    Paper Boats    rank 1, for 'anything short'
    Big Fish       rank 1, for 'burton'
    Ghost Weekend  rank 2, for 'anything short'
    Two Left Feet  rank 2, for 'comedies'
    Slow Train     no: 2 better ones are still valid (Big Fish, Two Left Feet)
    Ed Wood        rank 1, for 'burton'
"""

import json

import shortlist

REGISTRY = shortlist.registry_from_documents(
    {
        "vocabulary": {"genre": {"type": "string", "many": True}},
        "shortlists": [
            {
                "id": "tonight",
                "subscriber": "home",
                "policy": {"kind": "top-k", "k": 2},
                "prefers": [["burton", "comedies"], ["comedies", "anything short"]],
            }
        ],
        "subscriptions": [
            {"id": "burton", "shortlist": "tonight", "where": "director = 'Tim Burton'"},
            {
                "id": "comedies",
                "shortlist": "tonight",
                "where": "genre = 'comedy' and not genre = 'horror'",
            },
            {"id": "anything short", "shortlist": "tonight", "where": "minutes < 100"},
        ],
    }
)

FILMS = [
    ("Paper Boats", {"genre": ["drama"], "minutes": 94}),
    ("Big Fish", {"director": "Tim Burton", "genre": ["drama"], "minutes": 125}),
    ("Ghost Weekend", {"genre": ["comedy", "horror"], "minutes": 88}),
    ("Two Left Feet", {"genre": ["comedy"], "minutes": 101}),
    ("Slow Train", {"genre": ["drama"], "minutes": 90}),
    ("Ed Wood", {"director": "Tim Burton", "genre": ["comedy"], "minutes": 127}),
]


def main() -> None:
    lines = [
        json.dumps({"id": title, "source": "tv", "time": f"2026-03-01T18:0{n}:00Z", "data": data})
        for n, (title, data) in enumerate(FILMS)
    ]
    asked = shortlist.Question(shortlist="tonight")
    for explained in shortlist.replay(REGISTRY, lines, question=asked).explanations:
        if explained["delivered"]:
            verdict = f"rank {explained['rank']}, for {explained['subscription']!r}"
        else:
            above = ", ".join(standing["publication"] for standing in explained["above"])
            verdict = f"no: {explained['reason']} ({above})"
        print(f"{explained['publication']:14} {verdict}")


if __name__ == "__main__":
    main()
