"""The registry of a deployment as files: the admission's own, and each shard's part of it."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from shortlist.engine.arrow import rows
from shortlist.engine.saved import Saved, packed, registry_part
from shortlist.intake.files import registry_read_again
from shortlist.intake.lines import ItemReader
from shortlist.intake.roster import Roster
from shortlist.intake.written import registry_document
from shortlist.live.files import Files, Stored
from shortlist.live.manifest import Chain, Input
from shortlist.live.slots import shard_of
from shortlist.live.states import read_state
from shortlist.live.tables import of_bytes
from shortlist.model.collecting import uncollected
from shortlist.model.command import Command
from shortlist.model.items import COMMAND, Items
from shortlist.model.registry import Registry
from shortlist.model.settings import UNLIMITED, Limits
from shortlist.model.vocabulary import Vocabulary

Concerns = Callable[[str | None], bool]
"""Whether what happens to a shortlist (None: to none in particular) has to be known somewhere."""


@uncollected()
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
    return Saved(packed(document)).to_bytes(), [first_state(packed(part)) for part in parts]


def first_state(registry: bytes) -> bytes:
    """That of a shard which has seen nothing yet, with a registry that is packed."""
    return Saved(registry, {"serials": 0, "counts": {"other_type": {}}}).to_bytes()


def replay_registry(
    chain: Chain,
    files: Files,
    limits: Limits,
    concerns: Concerns = lambda shortlist: True,
) -> tuple[Registry, Iterator[Command]]:
    """Return the registry as it was last written whole, and the commands carried out since.

    Of both there is only what `concerns` says has to be known.
    """
    document = read_state(chain, files.read).registry
    registry = registry_read_again(registry_part(document, concerns))
    reader = ItemReader(registry.vocabulary, limits.for_what_was_read())
    return registry, carried_out(chain.inputs, files, reader, concerns)


def carried_out(
    inputs: Iterable[Input],
    files: Files,
    reader: ItemReader,
    concerns: Concerns = lambda shortlist: True,
) -> Iterator[Command]:
    """Yield the commands that were carried out, by batch; only those that `concerns` names."""
    for taken in inputs:
        lines = of_bytes(files.read(taken.items.name))
        for position, shortlist, line in rows(lines.to_batches()):
            if concerns(shortlist):
                command = reader.line(line, position, time=0)  # the time is not used
                assert isinstance(command, Command)
                yield command


def concerning(items: Items, concerns: Concerns) -> Items:
    """Return the items of a batch but for commands that `concerns` does not name."""
    is_command = items.kinds == COMMAND
    if not is_command.any():
        return items
    named, concerned = items.values("shortlist"), ~is_command
    concerned[is_command] = [concerns(named[at]) for at in np.flatnonzero(is_command).tolist()]
    return items.kept(concerned)


class IndexedRoster(Roster):
    """A roster that finds the shortlists of a subscriber without looking at all others.

    Without it a list of one subscriber's nouns read all 60,000 of a deployment, 0.3 s a request.

    >>> from shortlist.intake.files import registry_from_documents
    >>> some = registry_from_documents({"subscriptions": [{"id": "s", "subscriber": "you"}]})
    >>> [*IndexedRoster.of(some).owned_by("you")]
    ['s']
    """

    def __init__(self, vocabulary: Vocabulary | None = None, limits: Limits | None = None) -> None:
        super().__init__(vocabulary, limits)
        # By subscriber, the shortlists in order of arrival.
        self._owned: dict[str, dict[str, None]] = {}

    def apply(self, command: Command) -> None:
        name = self.shortlist_of(command)
        before = None if name is None else self.shortlists.get(name)
        super().apply(command)
        after = None if name is None else self.shortlists.get(name)
        if before is not None:
            self._owned[before.subscriber].pop(before.id)
            if not self._owned[before.subscriber]:
                del self._owned[before.subscriber]
        if after is not None:
            self._owned.setdefault(after.subscriber, {})[after.id] = None

    def owned_by(self, subscriber: str) -> Iterable[str]:
        return self._owned.get(subscriber, ())


class FollowedRegistry:
    """Who is live in a deployment, read on as it changes: what was read once is not read again."""

    def __init__(self) -> None:
        self.roster: Roster = IndexedRoster()
        self._snapshot: Stored | None = None
        self._inputs: tuple[Input, ...] = ()

    def read(self, chain: Chain, files: Files) -> bool:
        """Whether anything is new; where a file is missing nothing has changed."""
        if (self._snapshot, self._inputs) == (chain.snapshot, chain.inputs):
            return False
        known = len(self._inputs)
        if self._snapshot == chain.snapshot and self._inputs == chain.inputs[:known]:
            reader = ItemReader(self.roster.vocabulary.now(), UNLIMITED)
            for command in [*carried_out(chain.inputs[known:], files, reader)]:
                self.roster.apply(command)
        else:
            self.roster = IndexedRoster.of(*replay_registry(chain, files, UNLIMITED), UNLIMITED)
        self._snapshot, self._inputs = chain.snapshot, chain.inputs
        return True


def of_shard(shard: int, shards: int) -> Concerns:
    """What a shard has to know."""
    return lambda shortlist: shortlist is None or shard_of(shortlist, shards) == shard
