"""Every matcher there is: a new one is a row here and is tested with the rest."""

from functools import partial

from shortlist.matching.index.index import Index
from shortlist.matching.scan import Scan

MATCHERS = {"scan": Scan, "index": Index, "compiled": partial(Index, few=0)}
