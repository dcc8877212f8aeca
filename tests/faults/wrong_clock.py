"""The program on a machine whose clock somebody sets.

python wrong_clock.py FILE up …: the file says by how many seconds the clock of this process is
wrong.
"""

import sys
import time
from pathlib import Path


def go_by(file):
    """From here on the time is wrong by what a file says."""
    right = time.time_ns

    def wrong():
        try:
            return right() + int(float(file.read_text()) * 1e9)
        except (OSError, ValueError):  # somebody is just writing it
            return right()

    time.time_ns = wrong
    time.time = lambda: wrong() / 1e9


if __name__ == "__main__":
    go_by(Path(sys.argv.pop(1)))
    from shortlist.__main__ import main

    main()
