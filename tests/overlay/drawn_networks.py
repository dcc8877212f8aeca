"""Networks, registries and timelines for brokers to draw, and what an engine makes of them."""

import json
from dataclasses import replace
from typing import Any

from shortlist.engine.replay import read_items
from shortlist.intake.files import registry_from_documents
from shortlist.model.command import Item, Retract, Update
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.model.settings import Settings
from shortlist.overlay.topology import (
    Topology,
    chain,
    hierarchy,
    random_graph,
    random_tree,
    star,
)
from tests import strategies as draw
from tests.strategies import Pick, given_only

RANGES = [
    *(f"price {operator} {n}" for operator in ("<", ">=") for n in (1, 2, 3, 4)),
    "price between 1 and 4",
    "price between 2 and 3",
    "price between 1 and 3 and size > 0",
    "price = 2",
    "price <= 3 and size between 0 and 3",
]
NOVEL = ["N", "O"]
"""Shortlists that may be split."""
WINDOW_SCORES = ["price", "-price", "size", "price + size", "-distance(price: 2)", None, 0.5]


def topology(pick: Pick) -> Topology:
    seed = pick(range(100))
    plain = pick(
        [
            star(3),
            chain(3, 1),
            hierarchy(3, 2),
            random_tree(6, seed),
            random_graph(6, 4, seed),
            random_tree(1, seed),
        ]
    )
    names = [*draw.OWN_IDS, "u1", "u2", *(f"w{n}" for n in range(6))]
    return Topology(
        plain.brokers,
        plain.links,
        publishers={source: pick(plain.brokers) for source in draw.SOURCES},
        subscribers={name: pick(plain.brokers) for name in names if pick([True, True, False])},
    )


def split(pick: Pick) -> Topology:
    """A network in which most members of novelty shortlists are held somewhere by themselves."""
    network = topology(pick)
    members = [name for each in NOVEL for name in (*draw.members(each), each)]
    held = {name: pick(network.brokers) for name in members if pick([True, True, False])}
    return replace(network, subscriptions=held)


def novel(pick: Pick, name: str) -> dict[str, Any]:
    """A shortlist that may be split."""
    return draw.shortlist(pick, name) | {"policy": pick(draw.NOVELTY_POLICIES)}


def novel_member(pick: Pick, name: str) -> dict[str, Any]:
    shortlist = pick([name, *draw.members(name)])
    if shortlist == name:
        own = draw.subscription(pick, name, None)
        return own | {"policy": pick(draw.NOVELTY_POLICIES)}
    return draw.subscription(pick, shortlist, name)


def window(pick: Pick, name: str, shortlist: str | None = None) -> dict[str, Any]:
    """A subscription to a window, mostly one that is told by its threshold."""
    policy = {
        "kind": "window",
        "k": pick([1, 1, 2, 3]),
        "window": pick(["1s", "2s", "3s", "5s", None, 3]),
    }
    return given_only(
        id=name,
        shortlist=shortlist,
        where=pick([*RANGES, None]),
        score=pick(WINDOW_SCORES),
        policy=None if shortlist else policy,
    )


def registry(pick: Pick, kind: str) -> dict[str, Any]:
    """Any registry, or one of windows, of split shortlists, or one for publishers who choose."""
    document = draw.registry(pick, advertised=False)
    if kind == "split":
        opened = draw.subset(pick, NOVEL)
        document["shortlists"] += [novel(pick, name) for name in opened]
        document["subscriptions"] += [
            draw.subscription(pick, member, name)
            for name in opened
            for member in draw.subset(pick, draw.members(name))
        ]
    if kind == "windows":
        if pick([False, True, True]):  # else what is withheld is mostly sent for others
            document = {"vocabulary": draw.VOCABULARY, "subscriptions": []}
        own = [window(pick, f"w{n}") for n in range(pick(range(7)))]
        more = [window(pick, f"more{n}", "w0") for n in range(pick([0, 0, 2]) if own else 0)]
        document["subscriptions"] += [*own, *more]
    if kind == "audience":
        document["subscriptions"] += [static(pick, f"w{n}") for n in range(pick(range(7)))]
        document["advertisements"] = [
            advertisement(pick, name) for name in draw.subset(pick, ["ad1", "ad2", "ad3"])
        ]
    return document


def static(pick: Pick, name: str) -> dict[str, Any]:
    """A subscription that others may rank-cover."""
    return given_only(
        id=name,
        where=pick([*RANGES, None]),
        score=pick([0.1, 0.5, 0.9, None]),
        profile=pick([None, {"age": 2}, {"age": 3}]),
        policy=pick([None, None, {"kind": "top-k", "k": 1}]),
    )


def advertisement(pick: Pick, name: str) -> dict[str, Any]:
    scores = ["subscription.volume", "subscription.profile.age", "subscription.score", 1]
    if pick([False, True]):
        return draw.advertisement(pick, name)
    return given_only(
        id=name,
        source=pick(draw.SOURCES),
        where=pick([None, None, *RANGES]),
        k=pick([1, 2, 3]),
        score=pick(scores),
    )


def command(pick: Pick, micros: int, kind: str) -> dict[str, Any] | None:
    """A command that brokers take; None where another kind was drawn."""
    own = f"w{pick(range(6))}"
    choices: list[Any] = [{"unsubscribe": own}, {"close": own}]
    if kind == "windows":
        choices += [
            {"subscribe": window(pick, own)},
            {"subscribe": window(pick, f"more{pick(range(3))}", own)},
            {"unsubscribe": f"more{pick(range(3))}"},
        ]
    if kind == "audience":
        choices += [
            {"subscribe": static(pick, own)},
            {"advertise": advertisement(pick, pick(["ad1", "ad2", "ad3"]))},
            {"unadvertise": pick(["ad1", "ad2", "ad3"])},
        ]
    if kind == "split":
        name = pick(NOVEL)
        choices += [
            {"open": novel(pick, name)},
            {"close": name},
            {"subscribe": novel_member(pick, name)},
            {"subscribe": novel_member(pick, name)},
            {"unsubscribe": pick([name, *draw.members(name)])},
        ]
    made = pick([draw.command(pick, micros, 0), *choices])
    if {"update", "retract"} & {*made} or (kind == "windows" and "open" in made):
        return None
    if kind != "audience" and {"advertise", "unadvertise"} & {*made}:
        return None
    return {"time": draw.format_time(micros)} | made


def story(pick: Pick, kind: str, most: int = 30) -> tuple[Registry, list[Item]]:
    """A registry and items in any order."""
    known = registry_from_documents(registry(pick, kind))
    lines = []
    for number, micros in enumerate(draw.instants(pick, pick(range(most + 1)))):
        document = None
        if pick([False, False, False, True]):
            document = command(pick, micros, kind)
        if document is None:
            document = draw.publication(pick, micros, number)
            if kind == "windows" and pick([False, True, True]):
                document |= {"data": {"price": pick(draw.NUMBERS), "size": pick(draw.NUMBERS)}}
        lines.append(json.dumps(document))
    items, rejects = read_items(known, lines, Settings())
    assert not rejects
    assert not any(isinstance(item, Update | Retract) for item in items)
    return known, [*items]


def spread_out(items: list[Item], gap: int) -> list[Item]:
    """The same items in order of time, with a gap around each that is a command: what is under way
    to a subscription when it goes would come too late for it."""
    late, found = 0, []
    for item in sorted(items, key=lambda item: (item.time, item.position)):
        late += 0 if isinstance(item, Publication) else gap
        moved = replace(item, time=item.time + late)
        if isinstance(item, Publication) and item.expiry is not None:
            moved = replace(moved, expiry=item.expiry + late)
        found.append(moved)
        late += 0 if isinstance(item, Publication) else gap
    return found
