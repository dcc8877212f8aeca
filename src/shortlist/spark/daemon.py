"""Spark's daemon for Python, which has imported what our tasks need before it forks a worker.

A worker that Spark starts anew, for another job or since the last one was killed, begins at once.
Daemons that plan data sources import nothing: they run none of our tasks. Nor does one of a shard,
which forks a single worker: Spark starts one daemon after the other, and workers together. Those
run nobody's code but ours, hence leave out what that does not use.
"""

import os
import sys

WORKER = "pyspark.worker"
# Set in the environment of functions that run in the worker of a shard.
SHARD = "SHORTLIST_SHARD"
# Set beside it: the number of the set of workers that a deployment uses.
WORKERS = "SHORTLIST_WORKERS"

if __name__ == "__main__":
    if SHARD in os.environ:
        from shortlist.unused import collect_seldom, leave_out_unused

        collect_seldom()
        leave_out_unused()
    elif sys.argv[1:] == [WORKER]:
        import shortlist.engine.stages
        import shortlist.live.tasks  # noqa: F401
    from pyspark.daemon import manager

    manager()
