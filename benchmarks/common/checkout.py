"""Imported for what it does: what stands beside the library can be imported too."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
