"""The daily best five at six in Oslo, nothing on Sundays, and at most twelve a week.

What arrives waits for the digest of its day. Sunday's waits until shortly before Monday, but then
the week's twelve are used up. On the last day clocks go forward, and six is an hour earlier in UTC.

It prints:

    Mon 18:00 (17:00 in UTC): flat-17, flat-07, flat-14, flat-04, flat-11
    Tue 18:00 (17:00 in UTC): flat-37, flat-27, flat-34, flat-24, flat-31
    Wed 18:00 (17:00 in UTC): flat-57, flat-47
    Mon 18:00 (16:00 in UTC): flat-157, flat-147, flat-154, flat-144, flat-151
"""

import json
from datetime import datetime, timedelta
from itertools import groupby
from zoneinfo import ZoneInfo

import shortlist

ZONE = "Europe/Oslo"
POLICY = [
    {"kind": "digest", "k": 5, "every": "day", "at": "18:00", "zone": ZONE},
    {"kind": "quiet", "from": "00:00", "to": "23:59", "days": ["sun"], "zone": ZONE},
    {"kind": "cap", "most": 12, "per": "week", "zone": ZONE},
]
EACH_DAY = 20
DAYS = 8
MONDAY = datetime(2026, 3, 23, 8, tzinfo=ZoneInfo(ZONE))


def main() -> None:
    lines = []
    for number in range(DAYS * EACH_DAY):
        day, turn = divmod(number, EACH_DAY)
        published = MONDAY + timedelta(days=day, minutes=20 * turn)
        flat = {"id": f"flat-{number:02d}", "source": "ads", "time": published.isoformat()}
        lines.append(json.dumps({**flat, "data": {"fit": number * 7 % 10}}))
    best = {"id": "best", "score": "fit", "policy": POLICY}
    registry = shortlist.registry_from_documents({"subscriptions": [best]})
    deliveries = shortlist.replay(registry, lines).deliveries
    for time, some in groupby(deliveries, key=lambda made: made.document()["time"]):
        utc = datetime.fromisoformat(time)
        ranked = sorted(some, key=lambda made: (-made.score, -made.publication.position))
        names = ", ".join(made.publication.id for made in ranked)
        print(f"{utc.astimezone(ZoneInfo(ZONE)):%a %H:%M} ({utc:%H:%M} in UTC): {names}")


if __name__ == "__main__":
    main()
