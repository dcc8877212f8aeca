"""Saved states cut by shortlist and joined again: to rescale, to move, to look at one shortlist."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from shortlist.engine.saved import Saved, UnusableState, packed
from shortlist.engine.table_merging import PUBLICATIONS, cut_tables, joined_tables

Document = dict[str, Any]


def registry_part(registry: Document, keep: Callable[[str], bool]) -> Document:
    """A registry's document with only some shortlists and what feeds these."""
    return registry | {
        "shortlists": [made for made in registry["shortlists"] if keep(made["id"])],
        "subscriptions": [
            made for made in registry["subscriptions"] if keep(made.get("shortlist") or made["id"])
        ],
    }


def part(saved: Saved, keep: Callable[[str], bool], registry: bytes | None = None) -> Saved:
    """Of a snapshot only some shortlists, with all that these hold; somebody may have packed the
    registry.

    The counts start over: they belong to no shortlist in particular, so whoever cuts a state in
    pieces has to keep them. Commands must not wait: whom they concern is not known before they are
    carried out.

    >>> from shortlist.engine.engine import Engine
    >>> from shortlist.intake.files import registry_from_documents
    >>> registry = registry_from_documents({"subscriptions": [{"id": "a"}, {"id": "b"}]})
    >>> second = part(Saved.of_bytes(Engine(registry).snapshot()), lambda name: name == "b")
    >>> [made["id"] for made in second.registry["subscriptions"]]
    ['b']
    """
    if any("id" not in item for _, item, *_ in saved.document.get("waiting", ())):
        raise UnusableState("expected a state in which no commands wait, found some")
    if registry is None:
        registry = packed(registry_part(saved.registry, keep))
    document = saved.document | {"counts": {"other_type": {}}, "changes": []}
    return Saved(registry, document, cut_tables(saved.tables, keep))


def joined(parts: Sequence[Saved], registry: bytes | None = None) -> Saved:
    """Snapshots over different shortlists as one; at least one, and all under one vocabulary.
    Somebody may have packed their registry.

    >>> from shortlist.engine.engine import Engine
    >>> from shortlist.intake.files import registry_from_documents
    >>> both = [Saved.of_bytes(Engine(registry_from_documents(document)).snapshot())
    ...         for document in ({"subscriptions": [{"id": name}]} for name in "ab")]
    >>> [made["id"] for made in joined(both).registry["subscriptions"]]
    ['a', 'b']
    """
    tables = joined_tables([part.tables for part in parts])
    documents = [part.document for part in parts]
    waiting = {held[0]: held for each in documents for held in each.get("waiting", ())}
    document = {
        "serials": tables[PUBLICATIONS.name].num_rows if PUBLICATIONS.name in tables else 0,
        "counts": total_counts(each["counts"] for each in documents),
        "latest": _largest(documents, "latest"),
        "arrived": _largest(documents, "arrived"),
        "waiting": [*waiting.values()],
    }
    if registry is None:
        registry = packed(_joined_registries([part.registry for part in parts]))
    return Saved(registry, document, tables)


def _largest(documents: Sequence[Document], name: str) -> int | None:
    known = [each[name] for each in documents if each.get(name) is not None]
    return max(known, default=None)


def _joined_registries(registries: Sequence[Document]) -> Document:
    """Shortlists and subscriptions are in one of them each, advertisements in all."""
    advertisements = {made["id"]: made for each in registries for made in each["advertisements"]}
    return {
        "vocabulary": registries[0]["vocabulary"],
        "shortlists": [made for each in registries for made in each["shortlists"]],
        "subscriptions": [made for each in registries for made in each["subscriptions"]],
        "advertisements": [*advertisements.values()],
    }


def total_counts(counts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Of all shards together.

    >>> total_counts([{"matched": 1, "other_type": {"x": 1}}, {"matched": 2, "other_type": {}}])
    {'matched': 3, 'other_type': {'x': 1}}
    """
    total: Counter[str] = Counter()
    other_type: Counter[str] = Counter()
    for each in counts:
        other_type.update(each["other_type"])
        total.update({name: count for name, count in each.items() if name != "other_type"})
    return {**total, "other_type": dict(other_type)}
