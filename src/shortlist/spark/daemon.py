"""Spark's daemon for Python, which has imported what our tasks need before it forks a worker.

A worker that Spark starts anew, for another job or since the last one was killed, begins at once.
Daemons that plan data sources import nothing: they run none of our tasks. Nor does one of a shard,
which forks a single worker: Spark starts one daemon after the other, and workers together.
"""

import os
import sys

WORKER = "pyspark.worker"
SHARD = "SHORTLIST_SHARD"
"""In the environment of what is pinned to a shard."""

if __name__ == "__main__":
    if sys.argv[1:] == [WORKER] and SHARD not in os.environ:
        import shortlist.engine.stages
        import shortlist.live.tasks  # noqa: F401
    from pyspark.daemon import manager

    manager()
