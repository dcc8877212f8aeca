"""Shortlists from a DataFrame: `rank` is one more step of a Spark job.

It prints:

    near the park  f1  score -6.000  rank 1
    near the park  f2  score -2.000  rank 1
    near the park  f4  score -1.000  rank 1
    any house      h1  score  1.000  rank None
    best:
      any house 1.000
      near the park -1.000
"""

from datetime import UTC, datetime, timedelta

import shortlist

REGISTRY = {
    "subscriptions": [
        {
            "id": "near the park",
            "where": "kind = 'flat' and rent <= 1500",
            "score": "-distance(x: 3, y: 4)",
            "policy": {"kind": "top-k", "k": 2},
        },
        {"id": "any house", "where": "kind = 'house'"},
    ]
}

OFFERS = [
    ("f1", "flat", 1400, 9.0, 4.0),
    ("f2", "flat", 1100, 3.0, 6.0),
    ("f3", "flat", 1900, 3.0, 4.0),
    ("f4", "flat", 1500, 4.0, 4.0),
    ("f5", "flat", 900, 8.0, 9.0),
    ("h1", "house", 2500, 0.0, 0.0),
]


def main() -> None:
    spark = shortlist.local_session(cores=2)
    start = datetime(2026, 3, 1, 9, tzinfo=UTC)
    offers = spark.createDataFrame(
        [
            (name, "ads", start + timedelta(minutes=minute), kind, rent, x, y)
            for minute, (name, kind, rent, x, y) in enumerate(OFFERS)
        ],
        "id string, source string, time timestamp, kind string, rent int, x double, y double",
    )
    deliveries = shortlist.rank(offers, REGISTRY)
    for row in deliveries.orderBy("time", "shortlist").collect():
        print(f"{row.subscriber:14} {row.publication}  score {row.score:6.3f}  rank {row.rank}")
    best = deliveries.groupBy("subscriber").agg({"score": "max"}).orderBy("subscriber")
    print(
        "best:", *[f"{subscriber} {score:.3f}" for subscriber, score in best.collect()], sep="\n  "
    )
    spark.stop()


if __name__ == "__main__":
    main()
