"""Imported by the process that workers are forked from, and by nobody else: so they begin at once.

It runs nobody's code but ours, hence leaves out what that does not use.
"""

from shortlist.unused import leave_out_unused

leave_out_unused()

import shortlist.live.tasks  # noqa: E402, F401
