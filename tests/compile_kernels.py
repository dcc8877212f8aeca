"""Compiles the kernels that most tests use, each once, before tests run in several processes.

    python -m tests.compile_kernels

Otherwise whoever comes first compiles them, and so does every other process that comes meanwhile.
"""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from shortlist.engine.deliveries import file_text, lines
from shortlist.model.policy import Chain, Everything, Fresh, Window
from tests.contracts.test_banks import STREAMS, compare
from tests.engine.test_deliveries import delivery, forms
from tests.jobs.test_process import test_a_timeline_gives_what_one_engine_gives as run
from tests.matching.index.test_index import test_blocks_of_any_size as match
from tests.selector_calls import POLICIES

LONGEST = (Fresh, Window)
TIMELINES = (0, 4)
"""Seeds of jobs that write, score and search in every way that most jobs do."""


def write() -> None:
    for table in forms([delivery(0), delivery(1)]):
        lines(table, with_data=True)
        file_text(table, with_data=True)


def run_job(seed: int) -> None:
    with TemporaryDirectory() as folder:
        run(Path(folder), seed, how=None)


def main() -> None:
    compare(Everything, STREAMS)  # what it needs, all policies need
    others = [kind for kind in POLICIES if kind not in (*LONGEST, Everything, Chain)]
    with ProcessPoolExecutor(2, get_context("spawn")) as processes:
        jobs = [processes.submit(compare, kind, STREAMS) for kind in (*LONGEST, *others)]
        jobs += [processes.submit(match, size) for size in (1, 63, 1100)]
        jobs.append(processes.submit(write))
        jobs += [processes.submit(run_job, seed) for seed in TIMELINES]
        for job in jobs:
            job.result()


if __name__ == "__main__":
    main()
