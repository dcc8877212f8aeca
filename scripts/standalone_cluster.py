"""Starts a standalone cluster on this machine, says where it is, and stops it on Ctrl-C.

.venv/bin/python scripts/standalone_cluster.py --workers 2
"""

import argparse
import signal
import tempfile

from shortlist.spark.cluster import StandaloneCluster

if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--workers", type=int, default=2)
    arguments.add_argument("--cores", type=int, default=1, help="of each worker")
    arguments.add_argument("--memory", default="1g", help="of each worker")
    wanted = arguments.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="shortlist-cluster-") as folder,
        StandaloneCluster(
            folder, workers=wanted.workers, cores=wanted.cores, memory=wanted.memory
        ) as cluster,
    ):
        print(cluster.url, flush=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})
