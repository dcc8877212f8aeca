"""A process that appends until it has done its work or is killed: `appender.py URL SEED COUNT`.

It says what was acknowledged, one line each, and at the end why the log did not take more.
"""

import random
import sys
from itertools import count

from shortlist.log.base import LogUnavailable
from shortlist.log.opening import open_log


def batches(seed):
    """Without end: batches of one to five contents that say whose they are, and their number."""
    sizes, numbers = random.Random(seed), count()
    while True:
        size = sizes.randint(1, 5)
        yield [
            f"{seed} {next(numbers)} {'x' * sizes.randint(0, 300)}".encode() for _ in range(size)
        ]


def main():
    url, seed, most = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    log = open_log(url)
    done = 0
    for batch in batches(seed):
        if done >= most:
            break
        try:
            end = log.append("input", batch)
        except LogUnavailable as error:
            print(error, flush=True)
            break
        done += len(batch)
        print(done, end, flush=True)


if __name__ == "__main__":
    main()
