"""A registry's document cut by shortlist, for those who do not open it."""

from collections.abc import Callable
from typing import Any

Document = dict[str, Any]


def registry_part(registry: Document, keep: Callable[[str], bool]) -> Document:
    """A registry's document with only some shortlists and what feeds these."""
    return registry | {
        "shortlists": [made for made in registry["shortlists"] if keep(made["id"])],
        "subscriptions": [
            made for made in registry["subscriptions"] if keep(made.get("shortlist") or made["id"])
        ],
    }
