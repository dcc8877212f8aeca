"""What selection was to show, where in the figures to look for it, and the tables of the rest."""

from typing import Any

from .goals import Goal
from .report import Column, Sheet

MILLION = 1_000_000


def _windows(data: str) -> dict[str, Any]:
    setting = {"subscriptions": 400, "publications": MILLION, "k": 9, "window_minutes": 40}
    return {"figure": "windows", "engine": "bank", "data": data, **setting}


def _crowd(policy: str) -> Goal:
    facts = {"figure": "crowds", "engine": "bank", "policy": policy, "shortlists": MILLION}
    return Goal(f"{policy}, 1 M shortlists: matches/s", facts, "matches_per_second", 5e6)


def _audience(score: str) -> Goal:
    facts = {"figure": "audience", "engine": "bulk", "score": score, "candidates": MILLION}
    return Goal(f"audience, {score} scores: ms each", facts, "core_milliseconds", 50, True)


def _probabilistic(error: float) -> Goal:
    facts = {"figure": "probabilistic", "error": error, "publications": MILLION}
    return Goal(f"windows, error {error}: measured", facts, "measured_error", error, True)


UNIFORM = _windows("uniform")

GOALS = (
    Goal("windows, uniform: seconds of a core", UNIFORM, "core_seconds", 10, True),
    Goal("windows, uniform: deliveries each", UNIFORM, "deliveries_per_subscription", 372),
    Goal("windows, uniform: deliveries each", UNIFORM, "deliveries_per_subscription", 392, True),
    Goal("windows, uniform: bytes each", UNIFORM, "bytes_per_subscription", 4096, True),
    _probabilistic(1e-2),
    _probabilistic(1e-3),
    _probabilistic(1e-4),
    _crowd("top-k"),
    _crowd("top-k, refresh"),
    _crowd("novelty, rate"),
    _crowd("novelty, interval"),
    _crowd("digest"),
    _crowd("quiet"),
    _crowd("cap"),
    Goal(
        "1 M digests of 5 fall due: seconds of a core",
        {"figure": "due", "policy": "digest", "shortlists": MILLION},
        "core_seconds",
        3,
        True,
    ),
    _audience("own"),
    _audience("equal"),
    _audience("traits"),
)

SECONDS = Column("core s", "core_seconds", "{:.3g}")
PAIRS = Column("pairs/s", "pairs_per_second", "{:.2e}")
DELIVERIES = Column("delivered", "deliveries_per_subscription", "{:.1f}")
ROWS = Column("rows", "mean_rows", "{:.1f}")
MOST_ROWS = Column("most", "most_rows", "{}")
BYTES = Column("bytes each", "bytes_per_subscription", "{:,.0f}")
SUBSCRIPTIONS = Column("subscriptions", "subscriptions", "{:,}")
K = Column("k", "k", "{}")

SHEETS = (
    Sheet(
        "Windows on one core; deliveries by the last arrival",
        {"figure": "windows", "engine": "bank"},
        "data",
        [
            K,
            SECONDS,
            PAIRS,
            Column("× list", "ratio_to_candidate_list", "{:.1f}"),
            Column("× sorted", "ratio_to_sorted_list", "{:,.0f}"),
            Column("× DuckDB", "ratio_to_duckdb", "{:,.0f}"),
            DELIVERIES,
            Column("promoted", "promotions_per_subscription", "{:.1f}"),
            Column("emptied", "deliveries_once_emptied", "{:.1f}"),
            ROWS,
            MOST_ROWS,
            BYTES,
        ],
    ),
    Sheet(
        "Growth of windows",
        {"figure": "window growth"},
        "grows",
        [
            K,
            Column("minutes", "window_minutes", "{}"),
            SUBSCRIPTIONS,
            SECONDS,
            PAIRS,
            DELIVERIES,
            ROWS,
            MOST_ROWS,
            BYTES,
        ],
    ),
    Sheet(
        "Probabilistic windows, which see every offer",
        {"figure": "probabilistic"},
        "error",
        [
            Column("measured", "measured_error", "{:.1e}"),
            Column("by last arrival", "measured_error_by_last_arrival", "{:.1e}"),
            SECONDS,
            DELIVERIES,
            ROWS,
            MOST_ROWS,
            BYTES,
            Column("dropped", "dropped_per_subscription", "{:,.0f}"),
            Column("thresholds", "threshold_changes_per_subscription", "{:.0f}"),
            Column("cells", "cell_changes_per_subscription", "{:.0f}"),
        ],
    ),
    Sheet(
        "Policies of many shortlists on one core",
        {"figure": "crowds", "engine": "bank"},
        "policy",
        [
            Column("shortlists", "shortlists", "{:,}"),
            Column("matches/s", "matches_per_second", "{:,.0f}"),
            Column("× plain", "ratio_to_plain", "{:.1f}"),
            Column("bytes each", "bytes_per_shortlist", "{:,.0f}"),
            Column("opened/s", "opened_per_second", "{:,.0f}"),
        ],
    ),
    Sheet(
        "Audiences on one core",
        {"figure": "audience", "engine": "bulk"},
        "score",
        [
            Column("candidates", "candidates", "{:,}"),
            K,
            Column("ms each", "core_milliseconds", "{:.2f}"),
            Column("× NumPy", "ratio_to_numpy", "{:.1f}"),
            Column("× DuckDB", "ratio_to_duckdb", "{:.1f}"),
        ],
    ),
    Sheet(
        "Whole engines on one core",
        {"figure": "engines"},
        "engine",
        [
            Column("shortlists", "shortlists", "{:,}"),
            Column("publications", "publications", "{:,}"),
            Column("publications/s", "publications_per_second", "{:,.0f}"),
            Column("× plain", "ratio_to_plain", "{:.1f}"),
            Column("deliveries", "deliveries", "{:,}"),
        ],
    ),
    Sheet(
        "What the engine saves",
        {"figure": "saving"},
        "saved",
        [
            Column("bytes", "bytes", "{:,}"),
            Column("each shortlist", "bytes_per_shortlist", "{:,.0f}"),
            Column("core s", "core_seconds", "{:.3f}"),
        ],
    ),
)
