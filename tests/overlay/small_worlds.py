"""Registries and publications written by hand."""

from typing import Any

from shortlist.intake.files import registry_from_documents
from shortlist.model.publication import Publication
from shortlist.model.registry import Registry

SECOND = 1_000_000


def registry(*subscriptions: dict[str, Any], **more: Any) -> Registry:
    return registry_from_documents({"subscriptions": [*subscriptions], **more})


def publication(
    name: str, seconds: float, position: int, expires: float | None = None, **data: Any
) -> Publication:
    return Publication(
        id=name,
        source="p",
        time=int(seconds * SECOND),
        position=position,
        expiry=None if expires is None else int(expires * SECOND),
        data=data,
    )
