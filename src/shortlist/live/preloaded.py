"""Imported by the process that forks for others, and by nobody else: so workers begin at once.

It runs nobody's code but ours, hence leaves out what that does not use.
"""

from shortlist.unused import leave_out_unused

leave_out_unused()

import shortlist.live.tasks  # noqa: E402, F401
from shortlist.live.worker import look_up  # noqa: E402

look_up()
