"""Every matcher there is: a new one is a row here and is tested with the rest."""

import tempfile
from functools import partial

from shortlist.matching.index.index import Index
from shortlist.matching.scan import Scan
from shortlist.model.settings import Limits
from shortlist.model.vocabulary import Vocabulary


def opened(vocabulary: Vocabulary, limits: Limits) -> Index:
    """An index that was on disk before anything came."""
    with tempfile.TemporaryDirectory() as folder:
        Index(vocabulary, limits).save(folder)
        return Index.open(folder, few=0)


MATCHERS = {"scan": Scan, "index": Index, "compiled": partial(Index, few=0), "opened": opened}
