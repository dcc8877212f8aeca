"""What looks like a mistake: registries and publications that do not speak of the same things."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from shortlist.engine.matching import Finder
from shortlist.engine.mentions import Mentions
from shortlist.engine.steps import BLOCK
from shortlist.intake.lines import ItemReader
from shortlist.intake.reading import LineReader
from shortlist.intake.roster import Roster
from shortlist.matching.blocks import Block
from shortlist.matching.values import Values
from shortlist.model.command import Define, Subscribe
from shortlist.model.items import ATTRIBUTES, COMMAND, PUBLICATION, Items, Wanted
from shortlist.model.paths import CONTEXT, format_path, parse_path
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits
from shortlist.model.subscription import Subscription
from shortlist.model.vocabulary import Vocabulary
from shortlist.model.wording import MOST_HINTS, alike, one_line

OF_CLOUD_EVENTS = {
    *("id", "source", "time", "type", "specversion", "expirytime", "audience", "replaces", "data"),
    *("datacontenttype", "dataschema", "data_base64", "subject", "traceparent", "tracestate"),
}
"""What stands beside `data` for good reasons."""
MOST_SUBSCRIPTIONS = 20_000
FEW = 5
"""Names that a warning lists."""


def likely_mistakes(
    registry: Registry,
    lines: Sequence[bytes],
    limits: Limits,
    *,
    commands: bool = True,
    of: str = "",
    most_subscriptions: int = MOST_SUBSCRIPTIONS,
    others: Wanted | None = None,
) -> list[str]:
    """Warnings about a registry beside some lines of its input, which `of` says more about.

    Of commands among them, those count that subscribe or define terms. Of more than so many
    subscriptions it is not asked which of them match: that takes long; nor where there are
    `others` than the registry has, of which it is known only what they mention.

    >>> from shortlist.intake.files import registry_from_documents
    >>> cheap = registry_from_documents({"subscriptions": [{"id": "cheap", "where": "rnt < 900"}]})
    >>> flats = [b'{"id": "f1", "source": "ads", "data": {"rent": 850}}']
    >>> for warning in likely_mistakes(cheap, flats, Limits()):
    ...     print(warning)
    rnt: none of 1 publications has it; did you mean rent?
    1 of 1 subscriptions match none of 1 publications: cheap
    """
    bare = LineReader(registry.vocabulary, limits, Wanted(), commands, by_arrival=True)
    numbered = range(1, len(lines) + 1)
    items = bare.lines(numbered, lines, [0] * len(lines))
    asked = _asked(registry, items, limits)
    wanted = asked.wanted.joined(others or Wanted())
    if not (items.kinds == PUBLICATION).any():
        return []
    read = LineReader(registry.vocabulary, limits, wanted, commands, by_arrival=True)
    items = read.lines(numbered, lines, [0] * len(lines))
    publications = items.kept(items.kinds == PUBLICATION)
    count = f"none of {of}{len(publications):,} publications"
    lines_read = publications.values("line")
    documents = [json.loads(line.removeprefix("\ufeff")) for line in lines_read]
    warnings = [*_unknown_attributes(publications, documents, count), *_beside_data(documents)]
    if others is None and len(asked.subscriptions) <= most_subscriptions:
        warnings += _unmatched(asked, publications, limits, count)
    return warnings


class _Asked(NamedTuple):
    """All subscriptions of a registry and of the commands behind it, what they mention, and the
    vocabulary after all commands."""

    subscriptions: dict[str, Subscription]
    wanted: Wanted
    vocabulary: Vocabulary


def _asked(registry: Registry, items: Items, limits: Limits) -> _Asked:
    roster = Roster(registry.vocabulary, limits)
    subscriptions = {made.id: made for made in registry.subscriptions}
    reader = ItemReader(registry.vocabulary, limits)
    for line in items.kept(items.kinds == COMMAND).values("line"):
        command = reader.line(line, position=0, time=0)
        if isinstance(command, Subscribe):
            subscriptions[command.subscription.id] = command.subscription
        elif isinstance(command, Define) and roster.refusal(command) is None:
            roster.apply(command)
    subscriptions = {
        name: made
        for name, made in subscriptions.items()
        if roster.unknown_term("subscription", made) is None
    }
    mentions = Mentions(registry.vocabulary, limits)
    found = {mentions.of_subscription(made) for made in subscriptions.values()}
    wanted = Wanted(reduce(frozenset.union, found, frozenset()))
    return _Asked(subscriptions, wanted, roster.vocabulary)


def _unknown_attributes(
    items: Items, documents: Sequence[Mapping[str, Any]], count: str
) -> Iterator[str]:
    """Attributes that are asked for, and that no publication has."""
    attributes = items.batch.column(ATTRIBUTES)
    known: set[str] | None = None
    found = 0
    for name in items.paths:
        values = attributes.field(name).flatten()
        is_there = any(value.null_count < len(items) for value in values)
        if is_there or parse_path(name) in CONTEXT:
            continue
        found += 1
        if found > MOST_HINTS:
            continue
        if known is None:
            known = {path for document in documents for path in _paths(document.get("data"))}
        meant = alike(name, known)
        yield f"{name}: {count} has it" + (f"; did you mean {meant}?" if meant else "")
    if found > MOST_HINTS:
        yield f"{found - MOST_HINTS:,} more attributes are asked for that {count} has"


def _paths(data: Any, before: tuple[str, ...] = ()) -> Iterator[str]:
    """The attributes of a publication, as expressions name them."""
    for key, value in data.items() if isinstance(data, Mapping) else ():
        yield format_path((*before, key))
        yield from _paths(value, (*before, key))


def _beside_data(documents: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Publications without data whose attributes stand beside it."""
    beside: Counter[str] = Counter()
    count = 0
    for document in documents:
        others = document.keys() - OF_CLOUD_EVENTS
        if document.get("data") is None and others:
            count += 1
            beside.update(others)
    if count:
        names = [name for name, _ in sorted(beside.items(), key=lambda one: (-one[1], one[0]))]
        yield (
            f"{count:,} publications have no data, and {_listed(names)} beside it:"
            " attributes belong into data"
        )


def _unmatched(asked: _Asked, items: Items, limits: Limits, count: str) -> Iterator[str]:
    """Subscriptions that match nothing."""
    subscriptions = asked.subscriptions
    if not subscriptions:
        return
    finder, values = Finder(asked.vocabulary, limits), Values(asked.vocabulary)
    numbers = {name: finder.add(made) for name, made in subscriptions.items()}
    is_matched = np.zeros(max(numbers.values()) + 1, np.bool_)
    for first in range(0, len(items), BLOCK):
        some = items.between(first, min(first + BLOCK, len(items)))
        is_matched[finder.found(Block.of_items(some, values)).subscriptions] = True
    names = sorted(name for name, number in numbers.items() if not is_matched[number])
    if names:
        counted = f"{len(names):,} of {len(subscriptions):,} subscriptions"
        yield f"{counted} match {count}: {_listed(names)}"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(one_line, names[:FEW]))
    return shown if len(names) <= FEW else f"{shown} and {len(names) - FEW:,} more"
