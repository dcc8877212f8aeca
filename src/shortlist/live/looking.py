"""What a shortlist of a deployment shows at present."""

from shortlist.engine.contents import Entry, content
from shortlist.live.files import Files
from shortlist.live.manifest import Manifest
from shortlist.live.shard import KeptShard
from shortlist.live.slots import shard_of
from shortlist.model.problem import ShortlistError
from shortlist.model.settings import Limits
from shortlist.model.shortlist import Shortlist


class NoSuchShortlist(ShortlistError, LookupError):
    """A shortlist that is not live."""


def looked_at(
    manifest: Manifest, files: Files, shortlist: str, limits: Limits
) -> tuple[Shortlist, list[Entry]]:
    """A shortlist, and what it shows just before the instant that the deployment has reached.

    Nothing is restored but this shortlist.
    """
    chain = manifest.shards[shard_of(shortlist, len(manifest.shards))]
    shard = KeptShard.restore(
        chain, files, limits, lambda name: name in (None, shortlist), is_whole=False
    ).shard
    known = shard.matching.roster.shortlists.get(shortlist)
    if known is None:
        raise NoSuchShortlist(f"there is no live shortlist {shortlist!r}")
    now = manifest.reached
    return known, [] if now is None else content(shard, shortlist, now - 1)
