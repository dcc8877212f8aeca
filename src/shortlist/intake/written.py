"""Items and registries as the documents that they could have been read from."""

from typing import Any

from shortlist.intake.documents import brief, dump
from shortlist.intake.lines import MAKING, OF_NOUNS
from shortlist.model.command import Define, Drop, Item, Retract, Retry, Update
from shortlist.model.paths import format_path
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry
from shortlist.model.times import format_time


def registry_document(registry: Registry) -> dict[str, Any]:
    """What a registry file could have held.

    >>> from shortlist.intake.files import registry_from_documents
    >>> registry = registry_from_documents({"subscriptions": [{"id": "s", "refresh": "90m"}]})
    >>> registry_from_documents(registry_document(registry)) == registry
    True
    """
    return {
        "vocabulary": {
            format_path(path): brief(attribute)
            for path, attribute in registry.vocabulary.attributes.items()
        },
        "shortlists": [brief(made) for made in registry.shortlists],
        "subscriptions": [brief(made) for made in registry.subscriptions],
        "advertisements": [brief(made) for made in registry.advertisements],
    }


def item_document(item: Item) -> dict[str, Any]:
    """What a line of a timeline could have held."""
    if isinstance(item, Publication):
        return publication_document(item)
    return {"time": format_time(item.time), **_verb(item)}


def publication_document(publication: Publication) -> dict[str, Any]:
    """What the line of a publication could have held."""
    said = publication.said_time
    document: dict[str, Any] = {
        "id": publication.id,
        "source": publication.source,
        "time": None if said is None else format_time(said),
        "data": publication.data,
    }
    expiry = publication.expiry
    further = {
        "type": publication.type,
        "expirytime": None if expiry is None else format_time(expiry),
        "audience": publication.audience,
        "replaces": publication.replaces,
    }
    return document | {name: value for name, value in further.items() if value is not None}


def _verb(item: Item) -> dict[str, Any]:
    for verb, (kind, command) in OF_NOUNS.items():
        if isinstance(item, command):
            given = getattr(item, kind)
            return {verb: dump(given) if verb in MAKING else given}
    match item:
        case Update(kind=kind, id=name, changes=changes):
            return {"update": {kind: name, **changes}}
        case Define(attribute=path, terms=terms):
            meanings = {name: term and brief(term) for name, term in terms.items()}
            return {"define": {"attribute": format_path(path), "terms": meanings}}
        case Retract(source=source, publication=name):
            return {"retract": {"source": source, "id": name}}
        case Retry(quarantined=position):
            return {"retry": position}
        case Drop(quarantined=position):
            return {"drop": position}
    return {"heartbeat": True}
