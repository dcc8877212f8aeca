"""Imported by the process that workers are forked from, and by nobody else: so they begin at once.

It runs nobody's code but ours, hence leaves out what that does not use.
"""

from shortlist.unused import leave_out_unused

leave_out_unused()

import numpy as np  # noqa: E402

import shortlist.live.tasks  # noqa: E402, F401
from shortlist.matching.kernels.numbering import EMPTY, enter_all  # noqa: E402

# what numba looks up before the first kernel of a process is there for all that are forked from it
enter_all(np.full(1, EMPTY, np.int64), np.full(1, EMPTY, np.int64))
