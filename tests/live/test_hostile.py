"""Hostile values in every field of publications and commands: nobody else notices."""

import json
from random import Random

import pytest

from shortlist.engine.replay import replay
from shortlist.intake.files import registry_from_documents
from shortlist.model.settings import Settings
from tests import strategies
from tests.live.deployments import Deployment
from tests.strategies import START, VOCABULARY

NESTED_LIST, NESTED_OBJECT = [], {}
for _ in range(200):
    NESTED_LIST, NESTED_OBJECT = [NESTED_LIST], {"x": NESTED_OBJECT}
LARGE = 10**6

VALUES = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31 - 1,
    2**31,
    2**63 - 1,
    2**63,
    -(2**63) - 1,
    10**30,
    10**400,
    1e308,
    -1e308,
    5e-324,
    -0.0,
    float("nan"),
    float("inf"),
    "",
    " ",
    "x",
    "\0",
    "\ud800",
    "\udc00\ud800",
    "\ufeff",
    "NaN",
    "inf",
    "-1e400",
    "P106751992D",
    "PT0.0000001S",
    "99999999999999999999999d",
    "9" * 5000 + "h",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999Z",
    "2026-02-30T00:00:00Z",
    "2026-03-01T00:00:00+99:99",
    "price < 1e999",
    "price = 1 and (" * 40,
    "not " * 2000 + "price = 1",
    "price / 0",
    "price ^ price ^ price",
    "log(0) - exp(1e308)",
    "1" + " + 1" * 500,
    "cosine(embedding, [" + "1, " * 2000 + "1])",
    "price in (" + "1, " * 500 + "1)",
    "size is around(0, 0)",
    "size is trapezoid(4, 3, 2, 1)",
    "relevance(title, '" + "red " * 5000 + "')",
    "event.time > time '9999-12-31T23:59:59Z'",
    "x" * LARGE,
    "é" * 70_000,
    "(" * 30_000,
    [],
    {},
    [[]],
    [None],
    [1, "x", None, {}],
    [0.1] * 20_000,
    {"": ""},
    {"term": "none such"},
    {"between": [5, 1]},
    {"between": [-1e308, 1e308]},
    {"trapezoid": [4, 3, 2, 1]},
    {"trapezoid": [-1e308, -1e308, 1e308, 1e308]},
    {"values": {"sad": 7}},
    {"weights": [1e308, 1e308]},
    {"weights": [0, 0]},
    {"kind": "top-k", "k": 2**40},
    {"kind": "top-k", "k": 1, "refresh": "P106751992D"},
    {"kind": "window", "k": 2**62, "window": 2**62},
    {"kind": "window", "k": 1, "window": "9999999d"},
    {"kind": "novelty", "rate": 5e-324, "period": 2**62},
    {"kind": "fresh", "k": 1, "window": None, "half_life": "PT0.000001S"},
    {"kind": "diverse", "k": 3, "window": 2**40, "over": {"price": 5e-324}},
    {"kind": "digest", "k": 2**40, "every": "P99999D"},
    {"kind": "cap", "most": 2**63, "per": "P106751992D"},
    [{"kind": "everything"}] * 200,
    NESTED_LIST,
    NESTED_OBJECT,
    {str(n): n for n in range(2000)},
]
"""Too large, too deep, too long, of another type, or right and yet at the edge."""

RAW = [
    b"",
    b" ",
    b"null",
    b"[]",
    b"{",
    b"\xff\xfe",
    b"\xef\xbb\xbf{}",
    b'{"id": 1}' * 2,
    b"[" * 50_000,
    b'{"a":' * 50_000,
    b'{"id": "\\ud800", "source": "evil"}',
    b'{"id": "n", "source": "evil", "data": {"price": NaN}}',
    b'{"id": "n", "source": "evil", "data": {"price": 1e999}}',
    b'{"id": "n", "source": "evil", "data": {"price": ' + b"9" * 5000 + b"}}",
    b'{"retry": 1}',
    b'{"drop": 1}',
    b'{"heartbeat": 1}',
    b'{"id": "n", "source": "evil", "id": "m"}',
]

REGISTRY = {
    "vocabulary": VOCABULARY,
    "subscriptions": [
        {"id": f"good-{number}", "where": "event.source = 'good'", "policy": policy, **more}
        for number, (policy, more) in enumerate(
            [
                ({"kind": "everything"}, {}),
                ({"kind": "top-k", "k": 2, "refresh": "3s"}, {"score": "price"}),
                ({"kind": "window", "k": 1, "window": "4s"}, {"score": "price"}),
                ({"kind": "digest", "k": 2, "every": "5s"}, {"score": "-price"}),
                ({"kind": "novelty", "rate": 0.5, "period": 3}, {"score": "size"}),
            ]
        )
    ],
}


def paths(document, before=()):
    """Where something stands in a document."""
    yield before
    parts = (
        document.items()
        if isinstance(document, dict)
        else enumerate(document)
        if isinstance(document, list)
        else ()
    )
    for key, part in parts:
        yield from paths(part, (*before, key))


def changed(document, path, value):
    """The same with another value at a place."""
    if not path:
        return value
    first, *rest = path
    if isinstance(document, list):
        return [
            changed(part, rest, value) if n == first else part for n, part in enumerate(document)
        ]
    return {
        key: changed(part, rest, value) if key == first else part for key, part in document.items()
    }


def item(random, number):
    """A publication or a command, as they should be; all that some say stands in them."""
    pick = random.choice
    names = [f"evil-{random.randrange(number + 1)}", f"evil-{number}"]
    match pick(["publish", "publish", "subscribe", "open", "advertise", "update", "rest"]):
        case "publish":
            made = strategies.publication(pick, START, number)
            extra = {"replaces": pick(names), "audience": 3, "type": "offer", "specversion": "1.0"}
            return extra | made | {"traceparent": "00-x", "extension": 1}
        case "subscribe":
            made = strategies.subscription(pick, names[1], None)
            return {"subscribe": {"profile": {"age": 2}, "refresh": "2s"} | made}
        case "open":
            return {"open": {"prefers": [["a", "b"]]} | strategies.shortlist(pick, names[1])}
        case "advertise":
            return {"advertise": strategies.advertisement(pick, names[1])}
        case "update":
            made = strategies.subscription(pick, names[0], None)
            return {"update": {"subscription": made.pop("id"), **made}}
    verb = pick(["unsubscribe", "close", "unadvertise", "retract", "retry", "drop", "heartbeat"])
    content = {"retract": {"source": pick("ab"), "id": "p1"}, "retry": number, "drop": number}
    return {"time": "2026-03-01T00:00:00Z", verb: content.get(verb, pick(names))}


def hostile(random, number):
    """A line with a hostile value in one of its fields, or that is none at all."""
    if random.random() < 0.05:
        return random.choice(RAW)
    document = item(random, number)
    if random.random() < 0.85:
        value = random.choice(VALUES)
        document = changed(document, random.choice([*paths(document)]), value)
    return json.dumps(document).encode()


def good(number):
    data = {"price": number * 7 % 5, "size": number % 3}
    return json.dumps({"id": f"g{number}", "source": "good", "data": data}).encode()


def run(lines, shards=2, at_once=40):
    """What the good ones get; lines come with the second at which they arrive."""
    registry = registry_from_documents(REGISTRY)
    deployment = Deployment(registry, Settings(time="arrival"), shards)
    for first in range(0, len(lines), at_once):
        some = lines[first : first + at_once]
        positions = range(first + 1, first + 1 + len(some))
        contents = [line for _, line in some]
        arrivals = [START + int(second * 1e6) for second, _ in some]
        deployment.driver.run_batch(
            deployment.driver.read_task().items(positions, contents, arrivals)[0]
        )
        if first % (5 * at_once) == 0:
            deployment.start()
    deployment.run([], last=True)
    delivered = [json.loads(line) for line in deployment.outlet.deliveries]
    kept = [each for each in delivered if each["shortlist"].startswith("good-")]
    return kept, deployment


def check_hostile(seed, count):
    random = Random(seed)
    lines = [(number / 10, hostile(random, number)) for number in range(count)]
    lines += [(number / 10 + 0.05, good(number)) for number in range(0, count, 5)]
    lines.sort(key=lambda line: line[0])
    delivered, deployment = run(lines)
    expected, _ = run([line for line in lines if b'"good"' in line[1]])
    assert delivered == expected
    assert len(delivered) > count / 10
    return deployment


def test_nobody_else_notices():
    deployment = check_hostile(seed=1, count=150)
    assert len(deployment.outlet.refusals) > 50
    assert all(reason for _, reason in deployment.outlet.refusals)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 12))
def test_nobody_else_notices_in_thousands(seed):
    check_hostile(seed, count=1000)


def check_agreement(seeds):
    """What the reader takes the engine can take, and what it does not it refuses by its rules."""
    registry, settings = registry_from_documents(REGISTRY), Settings(time="arrival")
    refused = 0
    for seed in seeds:
        random = Random(seed)
        lines = [make for n in range(20) for make in (hostile(random, n), good(n))]
        appended = [START + number * 300_000 for number in range(len(lines))]
        rejects = replay(registry, lines, settings, appended=appended).rejects
        refused += len(rejects)
        assert not [each for each in rejects if each.reason.startswith("cannot be read")], seed
    return refused


def test_the_reader_and_the_engine_agree():
    assert check_agreement(range(25)) > 200


@pytest.mark.soak
def test_the_reader_and_the_engine_agree_on_thousands():
    assert check_agreement(range(1000, 1600)) > 5000
