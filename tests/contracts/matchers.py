"""Every matcher there is: a new one is a row here and is tested with the rest."""

from shortlist.matching.grouped import Grouped
from shortlist.matching.index.index import Index
from shortlist.matching.scan import Scan

MATCHERS = {"scan": Scan, "grouped": Grouped, "index": Index}
