"""A service that runs by itself: its registry, its page, and somebody who publishes.

Run: python -m examples.services news_desk|flat_hunting|plant|promotions
"""

import argparse

from examples.services.examples import EXAMPLES
from examples.services.running import run

if __name__ == "__main__":
    options = argparse.ArgumentParser(prog="python -m examples.services")
    options.add_argument("example", choices=EXAMPLES)
    options.add_argument("--port", type=int, default=8080, help="0 is any free one")
    options.add_argument("--count", type=int, help="publish so many, then say what came of it")
    options.add_argument("--pause", type=float, default=0.5, help="seconds between publications")
    given = options.parse_args()
    run(EXAMPLES[given.example], given.port, given.count, given.pause)
