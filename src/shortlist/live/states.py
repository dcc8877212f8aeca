"""States as files: snapshots, and the registries that they refer to.

A registry changes seldom, and beside it stand the commands since: so it lies in a file of its own,
which every snapshot of the same state names until the registry is packed again.
"""

import uuid
from collections.abc import Callable
from dataclasses import replace

from shortlist.engine.saved import Saved
from shortlist.live.files import Files, Stored
from shortlist.live.manifest import Chain


def read_state(chain: Chain, read: Callable[[str], bytes], *, bounded: bool = False) -> Saved:
    """Read the state that a chain begins with; `read` gives the content of a file, and `bounded` is
    that of `Saved.of_bytes`."""
    saved = Saved.of_bytes(read(chain.snapshot.name), bounded=bounded)
    if chain.registry is None:
        return saved
    registry = Saved.of_bytes(read(chain.registry.name), bounded=bounded)
    return replace(saved, packed_registry=registry.packed_registry)


def write_state(saved: Saved, files: Files, registry: Stored | None = None) -> Chain:
    """A chain that begins with a state; the registry is written too, unless that was done before.

    >>> import tempfile
    >>> from shortlist.engine.saved import packed
    >>> files, saved = Files(tempfile.mkdtemp()), Saved(packed({"subscriptions": [{"id": "s1"}]}))
    >>> first = write_state(saved, files)
    >>> second = write_state(replace(saved, document={"latest": 7}), files, first.registry)
    >>> len([*files.folder.iterdir()]), read_state(second, files.read).registry
    (3, {'subscriptions': [{'id': 's1'}]})
    """
    if registry is None:
        registry = write_registry(saved.packed_registry, files)
    snapshot = files.store("snapshot", saved.without_registry().to_bytes())
    return Chain(token=uuid.uuid4().hex, snapshot=snapshot, registry=registry)


def write_registry(packed: bytes, files: Files) -> Stored:
    """A file that states refer to."""
    return files.store("registry", Saved(packed).to_bytes())
