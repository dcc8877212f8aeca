"""Registries, publications and timelines to draw: small pools, so that ties and clashes are common.

Everything is built by functions of `pick`, which takes one of several options. `drawn` makes them
Hypothesis strategies, which shrink; `seeded` drives them from a seed, which is faster.
"""

import json
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from random import Random
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from shortlist.model.times import format_time, parse_time

Pick = Callable[[Sequence[Any]], Any]

START = parse_time("2026-03-01T00:00:00Z")
SECOND = 1_000_000
NUMBERS = [0, 1, 2, 3, 4, 6, 2.5, -1]

VOCABULARY = {
    "price": {
        "type": "number",
        "terms": {
            "cheap": {"trapezoid": [None, None, 2, 4]},
            "fair": {"trapezoid": [1, 3, 3, 6]},
            "dear": {"trapezoid": [3, 6, None, None], "shape": "smooth"},
        },
    },
    "mood": {"type": "string", "terms": {"bright": {"values": {"happy": 1, "calm": 0.4}}}},
    "genre": {"type": "string", "many": True},
    "scores": {"many": True},
    "released": {"type": "time"},
    "embedding": {"type": "vector"},
    "title": {"type": "string", "idf": {"red": 2}},
}

VALUES: dict[str, list[Any]] = {
    "price": [
        *NUMBERS,
        *NUMBERS,
        {"term": "cheap"},
        {"term": "none such"},
        {"between": [2, 4]},
        "dear",
    ],
    "size": [*NUMBERS, *NUMBERS, {"trapezoid": [0, 1, 2, 4]}, [1], True, "1", 1e300],
    "mood": ["happy", "calm", "sad", {"term": "bright"}, {"values": {"sad": 1, "calm": 0.5}}, 3],
    "genre": ["drama", ["drama"], ["war", "drama"], ["war", 1, None], [], "war", 2],
    "scores": [[1, 2], [3], [4, "x"], 2, ["x"]],
    "released": ["2026-01-01", "2026-01-01T12:00:00Z", "soon", 2026],
    "embedding": [[1, 0], [0, 1], [1, 1], [0, 0], [1, 2, 3], [], [1, "x"]],
    "title": ["red car", "Red RED bus", "blue car", "", 7],
    "open": [True, False, "true"],
    "address": [{"city": "Oslo", "floor": 2}, {"city": "Rome"}, {"city": {"x": 1}}, "Oslo", None],
}

CRISP = [
    *(f"{path} {op} {n}" for path, op, n in product(["price", "size"], ["<", ">=", "="], [1, 3])),
    "price != 3",
    "size between 1 and 4",
    "price not between 2 and 3",
    "price in (1, 2, 3)",
    "size not in (2, 6)",
    "address.floor > 1",
    "address.city = 'Oslo'",
    "address.city starts with 'R'",
    "mood != 'sad'",
    "mood not contains 'l'",
    "mood ends with 'y'",
    "title contains 'car'",
    "open = true",
    "price exists",
    "not (size exists)",
    "released < '2026-01-01T06:00:00Z'",
    "event.source = 'a'",
    "event.type = 'offer'",
    "event.time >= time '2026-03-01T00:00:05Z'",
]
MULTI_VALUED = ["genre = 'drama'", "genre != 'drama'", "not genre = 'drama'", "scores > 2"]
FUZZY = [
    "price is cheap",
    "price is not very cheap",
    "price is somewhat dear",
    "price is fair (possibility >= 0.5)",
    "price is dear (possibility >= 0.2, necessity >= 0.1)",
    "size is around(2, 2)",
    "size is not trapezoid(0, 1, 2, 4) (necessity >= 0.5)",
    "size is trapezoid(null, null, 1, 3)",
    "mood is bright",
    "mood is not bright",
    "scores is around(2, 2)",
]
PREDICATES = CRISP + MULTI_VALUED + FUZZY

SCORES = [
    "price",
    "-price",
    "size",
    "2 * price",
    "price - 4",
    "price / 4",
    "-distance(price: 3, size: 2 weight 2)",
    "-max_distance(price: 3, size: 2)",
    "relevance(title, 'red car')",
    "cosine(embedding, [1, 0])",
    "possibility",
    "necessity",
    "possibility * 2 - necessity / 2",
    "size / price",
    "price ^ 2 - 1",
    "min(price, size, 2)",
    "sqrt(abs(price))",
    "log(price) + exp(-size)",
    0.5,
    "0.25",
    1,
    0,
]
AUDIENCE_SCORES = [
    None,
    "subscription.score",
    "-subscription.score",
    "subscription.volume",
    "-subscription.volume",
    "subscription.profile.age",
    "subscription.profile.age * price",
    "price / subscription.volume",
    1,
]
NORMS = ["min", "product", "lukasiewicz", "average", "max"]
COMBINES = ["max", "min", "mean", "sum", "most_specific"]
DURATIONS = ["500ms", "1s", "2s", "PT3S", "5s", "20s"]

EVERYTHING_POLICIES: list[dict[str, Any]] = [{"kind": "everything"}]
TOP_K_POLICIES: list[dict[str, Any]] = [
    {"kind": "top-k", "k": k, **lives}
    for k, lives in product(
        [1, 2, 3],
        [{}, {"refresh": "2s"}, {"period": "5s"}, {"refresh": "3s", "period": "PT7S"}],
    )
]
WINDOW_POLICIES: list[dict[str, Any]] = [
    {"kind": "window", "k": k, "window": window}
    for k, window in product([1, 1, 2, 3], ["2s", "3s", "5s", "10s", 2, 4, 8, None])
]
NOVELTY_POLICIES: list[dict[str, Any]] = [
    {
        "kind": "novelty",
        "rate": rate,
        "period": period,
        "mode": mode,
        "measure": measure,
        "algorithm": algorithm,
        "aging": aging,
        "seed": 7,
    }
    for rate, period, mode, measure, algorithm, aging in product(
        [0.3, 0.7],
        [3, 10],
        ["lazy", "eager"],
        ["rate", "interval"],
        ["threshold", "sampling", "random"],
        [1.0, 0.5],
    )
]
FRESH_POLICIES: list[dict[str, Any]] = [
    {"kind": "fresh", "k": k, "window": window, "half_life": half_life}
    for k, window, half_life in product([1, 2, 3], ["3s", "10s", 4, None], ["500ms", "2s", "1h"])
]
OVERS = [
    {"price": 2},
    {"mood": None, "price": 4},
    {"address.city": None},
    {"event.source": None, "size": 1.5, "genre": None},
]
DIVERSE_POLICIES: list[dict[str, Any]] = [
    {"kind": "diverse", "k": k, "window": window, "over": over, "weight": weight}
    for k, window, over, weight in product([2, 1, 3], ["3s", "10s", 4, None], OVERS, [0.5, 0, 0.9])
]
PEOPLE_POLICIES: list[dict[str, Any]] = [
    *(
        {"kind": "digest", "every": every, "k": k}
        for every, k in product(["2s", "5s", "500ms", "day"], [2, 1, 3, None])
    ),
    *(
        {"kind": "quiet", "from": "23:00", "to": to, "zone": zone, "k": k}
        for to, zone, k in product(["00:01", "00:00"], ["UTC", "Africa/Abidjan"], [2, None])
    ),
    *({"kind": "cap", "most": most, "per": per} for most, per in product([1, 2, 3], ["3s", "day"])),
]
FIRST_POLICIES: list[dict[str, Any]] = [
    {"kind": "window", "k": 2, "window": "5s"},
    {"kind": "window", "k": 2, "window": 3},
    {"kind": "fresh", "k": 2, "window": "10s", "half_life": "2s"},
    {"kind": "diverse", "k": 2, "window": "5s", "over": {"mood": None, "price": 4}},
    {"kind": "novelty", "rate": 0.7, "period": 3},
    {"kind": "digest", "k": 3, "every": "2s"},
    {"kind": "quiet", "from": "23:30", "to": "00:01"},
]
LATER_POLICIES: list[dict[str, Any]] = [
    {"kind": "window", "k": 1, "window": "3s"},
    {"kind": "top-k", "k": 1, "refresh": "2s"},
    {"kind": "novelty", "rate": 0.5, "period": 4, "mode": "eager"},
    {"kind": "diverse", "k": 2, "window": 4, "over": {"size": 2}, "weight": 0.9},
    {"kind": "everything"},
    {"kind": "digest", "k": 2, "every": "3s"},
    {"kind": "cap", "most": 2, "per": "5s"},
]
CHAINS = [
    [first, *later]
    for first, later in product(
        FIRST_POLICIES,
        [[], *([policy] for policy in LATER_POLICIES), LATER_POLICIES[:3], LATER_POLICIES[-2:]],
    )
]
ORDINAL_POLICIES: list[list[Any]] = [
    EVERYTHING_POLICIES,
    TOP_K_POLICIES,
    WINDOW_POLICIES,
    WINDOW_POLICIES,
    NOVELTY_POLICIES,
]
"""To these only the order of scores matters."""
POLICIES = [*ORDINAL_POLICIES, FRESH_POLICIES, DIVERSE_POLICIES, PEOPLE_POLICIES, CHAINS]
SHORTLIST_IDS = ["A", "B", "Ć"]
OWN_IDS = ["x", "y"]
ADVERTISEMENT_IDS = ["ad1", "ad2"]
SOURCES = ["a", "b"]


def examples(count: int) -> settings:
    """At least so many examples, more under a profile that asks for more."""
    return settings(max_examples=max(count, settings().max_examples))


def seeds(count: int) -> range:
    """Seeds of so many rounds, and of as many more as a profile asks for more examples."""
    return range(count * settings().max_examples // settings.get_profile("default").max_examples)


@cache
def _index(size: int) -> st.SearchStrategy[int]:
    return st.integers(0, size - 1)


def drawn(build: Callable[..., Any]) -> Callable[..., st.SearchStrategy[Any]]:
    """The strategy of what `build(pick, …)` makes; the first options are the simplest."""

    @st.composite
    def strategy(draw: Any, *arguments: Any, **options: Any) -> Any:
        return build(lambda some: some[draw(_index(len(some)))], *arguments, **options)

    return strategy


def seeded(seed: int) -> Pick:
    return Random(seed).choice


def maybe(pick: Pick, options: Sequence[Any], often: int = 1) -> Any:
    """One of the options, or None in one case more than `often`."""
    return pick(options) if pick([False, *[True] * often]) else None


def subset(pick: Pick, options: Sequence[Any]) -> list[Any]:
    return [option for option in options if pick([False, True, True])]


def given_only(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def policy(pick: Pick, policies: Sequence[Sequence[Any]] = POLICIES) -> Any:
    return pick(pick(policies))


def where(pick: Pick, predicates: Sequence[str] = PREDICATES) -> tuple[str, int | None]:
    """A condition, and the number of predicates where it is a flat conjunction."""
    shape = pick(["one", "one", "one", "and", "or", "or", "nested", "not"])
    some = [pick(predicates) for _ in range(pick([2, 3]))]
    match shape:
        case "one":
            return some[0], 1
        case "and":
            return " and ".join(some), len(some)
        case "or":
            return " or ".join(some), None
        case "not":
            return f"not ({' or '.join(some)})", len(some)
    return f"{some[0]} and ({' or '.join(some[1:])} or not ({some[0]} and {some[1]}))", None


def subscription(pick: Pick, name: str, shortlist: str | None) -> dict[str, Any]:
    condition, width = where(pick) if pick([False, False, True]) else (None, None)
    norms = [*NORMS, {"weights": [3, 1, 2][:width]}] if width else NORMS
    own = {} if shortlist else given_only(policy=policy(pick), combine=maybe(pick, COMBINES))
    return given_only(
        id=name,
        shortlist=shortlist,
        where=condition,
        score=maybe(pick, SCORES, often=3),
        weight=maybe(pick, [2, 0.5]),
        norm=maybe(pick, norms),
        at_least=maybe(
            pick,
            [
                {"possibility": 0.5},
                {"necessity": 0.25},
                {"score": 1},
                {"score": 0.5, "necessity": 0.5},
            ],
        )
        if pick([False, False, True])
        else None,
        refresh=maybe(pick, DURATIONS),
        profile=maybe(pick, [{"age": 2}, {"age": -1.5, "rank": 1}]),
        subscriber=None if shortlist else maybe(pick, ["u1"]),
        **own,
    )


def members(shortlist: str) -> list[str]:
    return [f"{shortlist}.{letter}" for letter in "pqr"]


def shortlist(pick: Pick, name: str) -> dict[str, Any]:
    one, two, three = members(name)
    prefers = [
        [[one, two]],
        [[one, two], [one, three]],
        [[three, two], [two, one]],
        [],
        [["?", one]],
    ]
    return given_only(
        id=name,
        subscriber=pick(["u1", "u2"]),
        policy=policy(pick),
        combine=maybe(pick, COMBINES),
        prefers=pick(prefers) if pick([False, False, True]) else None,
    )


def advertisement(pick: Pick, name: str) -> dict[str, Any]:
    condition = where(pick)[0] if pick([False, True]) else None
    return given_only(
        id=name,
        source=pick(SOURCES),
        where=condition,
        k=pick([1, 2, 3, 4, 0]),
        score=pick(AUDIENCE_SCORES),
    )


def registry(pick: Pick, advertised: bool = True) -> dict[str, Any]:
    """A registry document that is always good."""
    shortlists = [shortlist(pick, name) for name in subset(pick, SHORTLIST_IDS)]
    subscriptions = [
        subscription(pick, name, made["id"])
        for made in shortlists
        for name in subset(pick, members(made["id"]))
    ]
    subscriptions += [subscription(pick, name, None) for name in subset(pick, OWN_IDS)]
    advertisements = [
        advertisement(pick, name)
        for name in ADVERTISEMENT_IDS
        if advertised and pick([False, False, False, True])
    ]
    return {
        "vocabulary": VOCABULARY,
        "shortlists": shortlists,
        "subscriptions": subscriptions,
        "advertisements": advertisements,
    }


def data(pick: Pick) -> dict[str, Any] | None:
    """Attributes, most of them the scores' own."""
    found = {
        name: pick(values)
        for name, values in VALUES.items()
        if pick([False, *[True] * 6] if name in ("price", "size") else [False, False, True])
    }
    return found or pick([None, {}])


def publication(pick: Pick, micros: int, fresh: int) -> dict[str, Any]:
    """A publication; now and then its id was used before."""
    alive_for = pick([None] * 8 + [0, -1, 1, 2, 4, 4])
    return given_only(
        id=pick([f"p{fresh}"] * 12 + ["p0", "p1"]),
        source=pick(SOURCES),
        time=format_time(micros),
        type=maybe(pick, ["offer"]),
        expirytime=None if alive_for is None else format_time(micros + alive_for * SECOND),
        audience=pick([0, 1, 2]) if pick([False] * 5 + [True]) else None,
        data=data(pick),
    )


def recent(pick: Pick, fresh: int) -> str:
    """The id of one that was published not long before, probably."""
    return f"p{max(0, fresh - pick(range(9)))}"


VERBS = (
    ["subscribe"] * 4
    + ["unsubscribe"] * 4
    + ["open"] * 3
    + ["close"] * 2
    + ["advertise", "unadvertise"]
    + ["update"] * 4
    + ["retract"] * 4
)


def update(pick: Pick) -> dict[str, Any]:
    """Other fields for a subscription or a shortlist; some of them cannot be, or not together."""
    homes = [*SHORTLIST_IDS, OWN_IDS[0]]
    if pick([False, True]):
        home = pick([*homes, None])
        name = pick(members(home) if home else OWN_IDS)
        made, kind = subscription(pick, name, home), "subscription"
    else:
        name = pick([*SHORTLIST_IDS, *OWN_IDS])
        made, kind = shortlist(pick, name), "shortlist"
    fields = [field for field in made if field not in ("id", "shortlist")]
    changes = {field: made[field] for field in fields if pick([False, True])} or {"combine": "max"}
    reset = pick([[], [], ["where"], ["refresh", "norm"], ["policy"], ["combine"]])
    return {kind: name, **changes, **dict.fromkeys(reset)}


def command(pick: Pick, micros: int, fresh: int) -> dict[str, Any]:
    """A command; as ids are few, many of them are refused."""
    verb = pick(VERBS)
    made: Any
    match verb:
        case "subscribe":
            home = pick([*SHORTLIST_IDS, None, OWN_IDS[0]])  # what is one's own, others may join
            made = subscription(pick, pick(members(home) if home else OWN_IDS), home)
        case "unsubscribe":
            joined = [name for home in [*SHORTLIST_IDS, OWN_IDS[0]] for name in members(home)]
            made = pick(joined + OWN_IDS * 2)
        case "open":
            made = shortlist(pick, pick(SHORTLIST_IDS))
        case "close":
            made = pick([*SHORTLIST_IDS, *OWN_IDS, "?"])
        case "advertise":
            made = advertisement(pick, pick(ADVERTISEMENT_IDS))
        case "update":
            made = update(pick)
        case "retract":
            made = {"source": pick(SOURCES), "id": recent(pick, fresh)}
        case _:
            made = pick([*ADVERTISEMENT_IDS, "?"])
    return {"time": format_time(micros), verb: made}


BAD_LINES = [
    "{",
    "[1]",
    '{"id": "p"}',
    '{"id": "p", "source": "a", "time": "now"}',
    '{"id": "p", "source": "a", "time": "2026-03-01T00:00:01Z", "data": [1]}',
    '{"time": "2026-03-01T00:00:01Z", "subscribe": {"id": "s", "where": "price <"}}',
    '{"time": "2026-03-01T00:00:01Z", "open": {"id": "A"}}',
    '{"time": "2026-03-01T00:00:01Z", "close": 7}',
]


def instants(pick: Pick, length: int) -> list[int]:
    """Times that mostly go forward; many are equal, some go back."""
    now, found = START, []
    for _ in range(length):
        now += int(pick([0, 0, 0.5, 0.5, 0.5, 1, 3]) * SECOND)
        found.append(now - pick([0, 0, 0, 0, 0, 1, 2]) * SECOND)
    return found


def publications(pick: Pick, most: int = 25) -> list[str]:
    """Lines with a publication each."""
    length = pick(range(most + 1))
    return [
        json.dumps(publication(pick, micros, number), ensure_ascii=False)
        for number, micros in enumerate(instants(pick, length))
    ]


def timeline(pick: Pick, most: int = 30) -> list[str]:
    """Lines that mix publications, commands, heartbeats and what is none of them."""
    lines = []
    for number, micros in enumerate(instants(pick, pick(range(most + 1)))):
        kind = pick(["publication"] * 9 + ["command"] * 3 + ["heartbeat", "bad"])
        if kind == "bad":
            lines.append(pick(BAD_LINES))
            continue
        match kind:
            case "publication":
                document = publication(pick, micros, number)
                if pick([False] * 7 + [True]):
                    document["replaces"] = recent(pick, number)
            case "command":
                document = command(pick, micros, number)
            case _:
                document = {"time": format_time(micros), "heartbeat": True}
        lines.append(json.dumps(document, ensure_ascii=False))
    return lines


def cuts(pick: Pick, items: Sequence[Any]) -> list[Sequence[Any]]:
    """The same items in order, in batches; some are empty."""
    batches, start = [], 0
    while start < len(items):
        end = start + pick([1, 0, 1, 2, 3, 7])
        batches.append(items[start:end])
        start = end
    return batches


registries = drawn(registry)
publication_lines = drawn(publications)
timelines = drawn(timeline)
