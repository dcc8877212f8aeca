"""The registry of a deployment as files: the admission's own, and each shard's part of it."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from shortlist.engine.arrow import rows
from shortlist.engine.registry_parts import registry_part
from shortlist.engine.saved import Saved, packed
from shortlist.intake.files import registry_from_documents, registry_read_again
from shortlist.intake.lines import ItemReader
from shortlist.intake.written import registry_document
from shortlist.live.files import Files
from shortlist.live.manifest import Chain, Input
from shortlist.live.slots import shard_of
from shortlist.live.tables import of_bytes
from shortlist.model.command import Command
from shortlist.model.registry import Registry
from shortlist.model.settings import Limits

Concerns = Callable[[str | None], bool]
"""Whether what happens to a shortlist (None: to none in particular) has to be known somewhere."""


def registry_state(registry: Registry) -> bytes:
    """The whole registry, for the admission."""
    return _whole(registry_document(registry))


def first_states(registry: Registry, shards: int) -> tuple[bytes, list[bytes]]:
    """The whole registry, and the states of shards that have seen nothing yet: each has its part.

    >>> from shortlist.intake.files import registry_from_documents
    >>> some = registry_from_documents({"subscriptions": [{"id": f"s{n}"} for n in range(9)]})
    >>> _, states = first_states(some, 2)
    >>> [len(Saved.of_bytes(content).registry["subscriptions"]) for content in states]
    [5, 4]
    """
    document = registry_document(registry)
    parts = (registry_part(document, of_shard(shard, shards)) for shard in range(shards))
    nothing = {"serials": 0, "counts": {"other_type": {}}}
    return _whole(document), [Saved(packed(part), nothing).to_bytes() for part in parts]


def _whole(document: dict[str, Any]) -> bytes:
    return Saved(packed(document)).to_bytes()


def replay_registry(
    chain: Chain,
    files: Files,
    limits: Limits,
    concerns: Concerns = lambda shortlist: True,
    *,
    checks: bool = False,
) -> tuple[Registry, Iterator[Command]]:
    """The registry as it was when it was last written whole, and the commands that were carried
    out since; of both only what concerns somebody.

    It may be checked once more: limits may be others than they were.
    """
    document = Saved.of_bytes(files.read(chain.snapshot.name)).registry
    part = registry_part(document, concerns)
    registry = registry_from_documents(part, limits) if checks else registry_read_again(part)
    reader = ItemReader(registry.vocabulary, limits.for_what_was_read())
    return registry, carried_out(chain.inputs, files, reader, concerns)


def carried_out(
    inputs: Iterable[Input],
    files: Files,
    reader: ItemReader,
    concerns: Concerns = lambda shortlist: True,
) -> Iterator[Command]:
    """The commands that were carried out, by batch; only those that concern somebody."""
    for taken in inputs:
        lines = of_bytes(files.read(taken.items.name))
        for position, shortlist, line in rows(lines.to_batches()):
            if concerns(shortlist):
                command = reader.line(line, position, time=0)  # nobody asks when
                assert isinstance(command, Command)
                yield command


def of_shard(shard: int, shards: int) -> Concerns:
    """What a shard has to know."""
    return lambda shortlist: shortlist is None or shard_of(shortlist, shards) == shard
