"""Compiles the kernels that most tests use, each once, before tests run in several processes.

    python -m tests.compile_kernels

Otherwise whoever comes first compiles them, and so does every other process that comes meanwhile.
"""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from shortlist.engine.deliveries import file_text, lines
from shortlist.model.policy import Chain, Everything, Fresh, Window
from tests.contracts.test_banks import STREAMS, compare
from tests.engine.test_deliveries import delivery, forms
from tests.matching.index.test_index import test_blocks_of_any_size as match
from tests.selector_calls import POLICIES

LONGEST = (Fresh, Window)


def write() -> None:
    for table in forms([delivery(0), delivery(1)]):
        lines(table, with_data=True)
        file_text(table, with_data=True)


def main() -> None:
    compare(Everything, STREAMS)  # what it needs, all policies need
    others = [kind for kind in POLICIES if kind not in (*LONGEST, Everything, Chain)]
    with ProcessPoolExecutor(2, get_context("spawn")) as processes:
        jobs = [processes.submit(compare, kind, STREAMS) for kind in (*LONGEST, *others)]
        jobs += [processes.submit(match, size) for size in (1, 63, 1100)]
        jobs.append(processes.submit(write))
        for job in jobs:
            job.result()


if __name__ == "__main__":
    main()
