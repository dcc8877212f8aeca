"""Topologies in files: YAML or JSON, with every problem found."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from shortlist.intake.json_text import NotJson, parse_text
from shortlist.intake.yaml_text import NotYaml, parse_yaml
from shortlist.model.problem import ShortlistError
from shortlist.model.wording import key_text, one_line, shown
from shortlist.overlay.topology import Topology, chain, hierarchy, random_graph, random_tree, star

SHAPES: dict[str, Callable[..., Topology]] = {
    "chain": chain,
    "hierarchy": hierarchy,
    "star": star,
    "tree": random_tree,
    "graph": random_graph,
}
# Brokers of a network in a file. Each knows the way to every other; a graph's links are drawn among
# all pairs.
MOST_BROKERS = dict.fromkeys(SHAPES, 10_000) | {"graph": 2_000}
KEYS = ("shape", "brokers", "links", "publishers", "subscribers", "subscriptions")


class InvalidTopology(ShortlistError):
    """A topology that cannot be used, with every problem found in it, one on a line."""


def read_topology(path: Path) -> Topology:
    """The network that a file describes."""
    try:
        text = path.read_text(encoding="utf-8")
        document = parse_text(text) if path.suffix == ".json" else parse_yaml(text)
    except (NotJson, NotYaml, UnicodeDecodeError) as error:
        raise InvalidTopology(f"{path}: {error}") from None
    try:
        return topology_of(document)
    except InvalidTopology as error:
        lines = (f"{path}: {line}" for line in str(error).splitlines())
        raise InvalidTopology("\n".join(lines)) from None


def topology_of(document: Any) -> Topology:
    """The network that a document describes: a `shape`, or `links` between brokers.

    >>> topology_of({"shape": {"star": {"edges": 2}}}).brokers
    ('hub', 'b1', 'b2')
    >>> topology_of({"links": [["a", "b"], ["b", "c"]], "publishers": {"cinema": "a"}}).brokers
    ('a', 'b', 'c')
    >>> topology_of({"links": [["a", "b"], ["c", "d"]]})
    Traceback (most recent call last):
    shortlist.overlay.topology_files.InvalidTopology: links: expected a way from 'a' to every \
broker, found none to 'c'
    """
    if not isinstance(document, Mapping):
        raise InvalidTopology(f"expected a mapping with {', '.join(KEYS)}, found {shown(document)}")
    problems = [
        f"expected one of {', '.join(KEYS)}, found {shown(key)}"
        for key in document
        if key not in KEYS
    ]
    if ("shape" in document) == ("links" in document):
        found = "both" if "shape" in document else "neither"
        raise InvalidTopology("\n".join([*problems, f"expected a shape or links, found {found}"]))
    plain = _shaped(document["shape"]) if "shape" in document else _linked(document, problems)
    homes = {
        kind: _homes(kind, document.get(kind), plain.brokers, problems)
        for kind in ("publishers", "subscribers", "subscriptions")
    }
    if problems:
        raise InvalidTopology("\n".join(problems))
    return Topology(plain.brokers, plain.links, **homes)


def _shaped(document: Any) -> Topology:
    if isinstance(document, str):
        document = {document: {}}
    if not isinstance(document, Mapping) or len(document) != 1 or not {*document} <= {*SHAPES}:
        expected = f"one of {', '.join(SHAPES)}, with its settings"
        raise InvalidTopology(f"shape: expected {expected}, found {shown(document)}")
    [(name, settings)] = document.items()
    settings = settings or {}
    make = SHAPES[name]
    known = [*make.__annotations__][:-1]
    least = {"edges": 0 if name == "chain" else 1, "more": 0, "seed": 0}
    for key, value in settings.items() if isinstance(settings, Mapping) else [("", settings)]:
        if key not in known:
            found = shown(value if key == "" else key)
            raise InvalidTopology(f"shape.{name}: expected {', '.join(known)}, found {found}")
        if not isinstance(value, int) or isinstance(value, bool) or value < least.get(key, 1):
            expected = f"a whole number of at least {least.get(key, 1)}"
            raise InvalidTopology(f"shape.{name}.{key}: expected {expected}, found {shown(value)}")
    given = {**dict(zip(known, make.__defaults__ or (), strict=True)), **settings}
    most, count = MOST_BROKERS[name], _size(name, given)
    if count > most:
        raise InvalidTopology(f"shape.{name}: expected at most {most:,} brokers, found more")
    return make(**settings)


def _size(shape: str, settings: Mapping[str, int]) -> int:
    """Return the number of brokers of a shape; for very many any number above the limit."""
    match shape:
        case "chain":
            return settings["cores"] * (1 + settings["edges"])
        case "hierarchy":
            levels, children = settings["levels"], settings["children"]
            # With two children each, 64 levels would be more than there is room for anywhere.
            return levels if children == 1 else min(children, 2**64) ** min(levels, 64)
        case "star":
            return 1 + settings["edges"]
    return settings["brokers"]


def _linked(document: Mapping[str, Any], problems: list[str]) -> Topology:
    links = []
    for place, link in enumerate(_list(document["links"], "links"), start=1):
        match link:
            case [str(one), str(other)] if one and other and one != other:
                links.append((one, other))
            case _:
                expected = "a pair of two names of brokers"
                problems.append(f"links: {place}: expected {expected}, found {shown(link)}")
    named = _list(document.get("brokers") or [], "brokers")
    every = [*named, *(name for link in links for name in link)]
    if not all(isinstance(name, str) and name for name in every) or not every:
        problems.append(f"brokers: expected a list of names, found {shown(every)}")
        return Topology(("?",), ())
    brokers = tuple(dict.fromkeys(every))
    plain = Topology(brokers, tuple({frozenset(link): link for link in links}.values()))
    reached = {brokers[0], *plain.next_hops(brokers[0])}
    apart = [name for name in brokers if name not in reached]
    if apart:
        start, missing = shown(brokers[0]), shown(apart[0])
        expected = f"a way from {start} to every broker"
        problems.append(f"links: expected {expected}, found none to {missing}")
    return plain


def _list(value: Any, key: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidTopology(f"{key}: expected a list, found {shown(value)}")
    return value


def _homes(
    kind: str, document: Any, brokers: tuple[str, ...], problems: list[str]
) -> dict[str, str]:
    if not isinstance(document or {}, Mapping):
        problems.append(
            f"{kind}: expected a mapping from names to brokers, found {shown(document)}"
        )
        return {}
    homes = dict(document or {})
    for name, broker in homes.items():
        if broker not in brokers:
            expected = f"{kind}: {one_line(key_text(name))}: expected a broker"
            problems.append(f"{expected}, found {shown(broker)}")
    return homes
