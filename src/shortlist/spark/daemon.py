"""Spark's daemon for Python, which has imported what our tasks need before it forks a worker.

A worker that Spark starts anew, for another job or since the last one was killed, begins at once.
Daemons that plan data sources import nothing: they run none of our tasks.
"""

import sys

from pyspark.daemon import manager

WORKER = "pyspark.worker"

if __name__ == "__main__":
    if sys.argv[1:] == [WORKER]:
        import shortlist.engine.stages
        import shortlist.live.tasks  # noqa: F401
    manager()
