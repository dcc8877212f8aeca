"""Check that a deployment which goes on is given the registry that it has."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

from shortlist.engine.saved import Saved, packed
from shortlist.intake.files import KINDS, registry_read_again
from shortlist.intake.roster import Roster
from shortlist.intake.written import registry_document
from shortlist.live.files import Files
from shortlist.live.manifest import Manifest
from shortlist.live.registry_state import replay_registry
from shortlist.model.problem import ShortlistError
from shortlist.model.registry import Registry
from shortlist.model.settings import UNLIMITED

# Differences that a message names: enough to recognise a wrong file or a forgotten command.
MOST_NAMED = 5

# What a registry holds: its nouns by kind and id, as documents.
Nouns = dict[tuple[str, str], Any]


class OtherRegistry(ShortlistError, ValueError):
    """Another registry than the one that a state has."""


def check_registry(registry: Registry, manifest: Manifest, files: Files) -> None:
    """Raise `OtherRegistry` unless a deployment began with this registry, or has it now.

    Commands change a registry while its deployment runs, so that the file which the deployment
    began with is right as well as one that follows those commands.
    """
    document = registry_document(registry)
    began = Saved.of_bytes(files.read(manifest.first_registry.name))
    # most starts are given the very file that the deployment began with: no need to read the
    # registry of the state, which may be large
    if packed(document) == began.packed_registry:
        return
    given = _nouns(document)
    if given == _nouns(registry_document(registry_read_again(began.registry))):
        return
    live = Roster.of(*replay_registry(manifest.registry, files, UNLIMITED), UNLIMITED)
    known = _nouns(registry_document(live.registry()))
    if given != known:
        raise OtherRegistry(
            "expected the registry that this state began with, or that it has now, found another:"
            f" {_said(known, given)}. A state keeps its registry, and commands of the input change"
            " it (subscribe, update, unsubscribe and others): send these, or begin with another"
            " state folder"
        )


def _nouns(document: Mapping[str, Any]) -> Nouns:
    nouns: Nouns = {("attribute", name): each for name, each in document["vocabulary"].items()}
    for name, kind in KINDS.items():
        nouns |= {(kind, each["id"]): each for each in document[name]}
    return nouns


def _said(known: Nouns, given: Nouns) -> str:
    """Return what differs, in words."""
    said = [f"{kind} {name} is missing" for kind, name in known.keys() - given.keys()]
    said += [f"{kind} {name} is not in the state" for kind, name in given.keys() - known.keys()]
    both = known.keys() & given.keys()
    said += [
        f"{kind} {name} differs" for kind, name in both if known[kind, name] != given[kind, name]
    ]
    said.sort()
    more = len(said) - MOST_NAMED
    return ", ".join(islice(said, MOST_NAMED)) + (f" and {more:,} more" if more > 0 else "")
