"""The demo: rank a generated city's rentals, films and sensor alerts, and show a few shortlists.

Run: python -m examples.city [--folder demo] [--publications 20000] [--subscribers 1000]
"""

import argparse
from pathlib import Path

from examples.city.show import show

if __name__ == "__main__":
    options = argparse.ArgumentParser(prog="python -m examples.city")
    options.add_argument("--folder", type=Path, default=Path("demo"))
    options.add_argument("--publications", type=int, default=20_000)
    options.add_argument("--subscribers", type=int, default=1_000)
    show(**vars(options.parse_args()))
