"""Imported by the process that forks for others, and by nobody else: so workers begin at once.

It runs nobody's code but ours, hence leaves out what that does not use.
"""

from shortlist.unused import collect_seldom, leave_out_unused

collect_seldom()
leave_out_unused()

import shortlist.live.tasks  # noqa: E402, F401
from shortlist.live.worker import prepare  # noqa: E402

prepare()
