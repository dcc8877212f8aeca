"""The figures of matching: the index measured and compared, mix by mix and size by size."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from shortlist.progress import Steps

from . import end_to_end
from .boxes import boxes_of
from .churn import churn
from .compiled import BLOCK, Compiled, subscriptions_of
from .conditions import All, supports
from .duckdb_join import DuckDbJoin
from .fuzzy_facts import arrived, blurred, blurred_agree_with_plain, count_matches
from .mixes import draw_conditions
from .movies import Movies
from .numpy_scan import NumpyScan
from .plain import agrees_with_plain
from .report import Column, Different, Report, Sheet
from .saving import saved
from .timing import best_of, timed

BASELINES = {"numpy": NumpyScan, "duckdb": DuckDbJoin}
SKIPPABLE = (*BASELINES, "churn", "spark")

USUAL = 100_000
"""Up to so many subscriptions all mixes are measured, beyond it the GROWING ones."""
GROWING = ("ranges", "selective")
CHANGING = "selective"
"""The mix of what is measured once: one film at a time, churn, and whole jobs."""

SMALL = 10_000
"""Up to so many subscriptions the baselines see all films, beyond it BASELINE_PAIRS."""
BASELINE_PAIRS = 200_000_000
PAIRS = 6_000_000_000
"""So many pairs of films and subscriptions are decided in one run, if there are films enough."""
PLAIN_SUBSCRIPTIONS, PLAIN_FILMS = 400, 300
ALONE = 500
"""Films that are matched one at a time."""
NEWCOMERS = 12_800
FUZZY_FILMS = 4 * BLOCK

SPEEDS = Sheet(
    "Shortlist's index on one core",
    {"figure": "matching", "engine": "index"},
    "mix",
    [
        Column("subscriptions", "subscriptions", "{:,}"),
        Column("matches each", "matches_per_publication", "{:,.0f}"),
        Column("publications/s", "publications_per_second", "{:,.0f}"),
        Column("pairs/s", "pairs_per_second", "{:.2e}"),
        Column("× NumPy", "ratio_to_numpy", "{:.1f}"),
        Column("× DuckDB", "ratio_to_duckdb", "{:.1f}"),
        Column("build s", "build_seconds", "{:.1f}"),
        Column("bytes each", "bytes_per_subscription", "{:.0f}"),
        Column("load s", "load_seconds", "{:.3f}"),
    ],
)


@dataclass(frozen=True, slots=True)
class Measuring:
    """Adds figures to a report."""

    movies: Movies
    report: Report
    steps: Steps
    skipped: frozenset[str]
    patience: float
    """Seconds after which a figure is not measured once more."""

    def check(self, mix: str) -> None:
        """The index against the plain matcher, degrees included."""
        subscriptions = subscriptions_of(draw_conditions(mix, PLAIN_SUBSCRIPTIONS, self.movies))
        films = self.movies.first(PLAIN_FILMS)
        with self.steps.step(f"{mix}: asking the plain matcher"):
            agrees = agrees_with_plain(subscriptions, films)
        self._compared("plain", mix, len(subscriptions), films, agrees)
        with self.steps.step(f"{mix}: asking the plain matcher about fuzzy films"):
            agrees = blurred_agree_with_plain(subscriptions, blurred(films.publications()))
        self._compared("plain, of fuzzy films", mix, len(subscriptions), films, agrees)

    def matching(self, mix: str, size: int) -> None:
        """The index and the baselines on one mix."""
        with self.steps.step(f"{mix}, {size:,} subscriptions: compiling"):
            conditions = draw_conditions(mix, size, self.movies)
            subscriptions = subscriptions_of(conditions)
            compiled, build_seconds = timed(partial(Compiled.of, subscriptions))
        crisp = list(map(supports, conditions)) if mix == "fuzzy" else conditions
        baselines = self._baselines(mix, size, crisp, compiled)
        measured = self._speed(mix, size, compiled)
        self.report.add(
            "matching",
            engine="index",
            mix=mix,
            subscriptions=size,
            **measured,
            **{
                f"ratio_to_{engine}": measured["publications_per_second"] / theirs
                for engine, theirs in baselines.items()
            },
            build_seconds=build_seconds,
            bytes_per_subscription=compiled.nbytes / size,
            **self._saved(mix, size, compiled),
        )
        self._fuzzy_facts(mix, size, compiled)
        if mix == "fuzzy":
            self._supports(size, crisp, measured["core_seconds"])
        if mix == CHANGING and size == USUAL:
            self._alone(size, compiled)
            self._churn(size, compiled)

    def growth(self, mix: str) -> None:
        """How evenly the work grows with the subscriptions, if there are several sizes."""
        facts = {"figure": "matching", "engine": "index", "mix": mix}
        pairs = {row["subscriptions"]: row["pairs_per_second"] for row in self.report.of(facts)}
        if len(pairs) < 2:
            return
        self.report.add(
            "growth",
            mix=mix,
            smallest=min(pairs),
            largest=max(pairs),
            pairs_per_second=pairs,
            spread=max(pairs.values()) / min(pairs.values()),
        )

    def end_to_end(self, size: int) -> None:
        """Whole jobs on Spark, whose deliveries must be the same."""
        measured = {}
        with tempfile.TemporaryDirectory(prefix="shortlist-") as scratch:
            folder = Path(scratch)
            end_to_end.prepare(folder, self.movies, draw_conditions(CHANGING, size, self.movies))
            for side in end_to_end.SIDES:
                with self.steps.step(f"{size:,} subscriptions on Spark: {side}"):
                    measured[side] = end_to_end.measure(side, folder)
            found = end_to_end.found(folder)
        self._compared("spark", CHANGING, size, self.movies, found.is_same)
        seconds = {side: facts["seconds"] for side, facts in measured.items()}
        self.report.add(
            "end to end",
            mix=CHANGING,
            subscriptions=size,
            publications=len(self.movies),
            cores=end_to_end.CORES,
            deliveries=found.deliveries,
            **measured["ours"],
            plain_join_seconds=seconds["plain_join"],
            tuned_join_seconds=seconds["tuned_join"],
            ratio_to_plain_join=seconds["plain_join"] / seconds["ours"],
            ratio_to_tuned_join=seconds["tuned_join"] / seconds["ours"],
        )

    def _baselines(
        self, mix: str, size: int, crisp: Sequence[All], compiled: Compiled
    ) -> dict[str, float]:
        """The publications a second of each; what they find must be what the index finds."""
        films = self.movies if size <= SMALL else self._films(BASELINE_PAIRS, size)
        boxes, expected, speeds = boxes_of(crisp), compiled.match(films), {}
        for engine, make in BASELINES.items():
            if engine in self.skipped:
                continue
            with self.steps.step(f"{mix}, {size:,} subscriptions: {engine}"):
                found, seconds = best_of(partial(make(boxes).match, films), self.patience)
            self._compared(engine, mix, size, films, found.same_as(expected))
            measured = speed(films, size, len(found), seconds)
            self.report.add("matching", engine=engine, mix=mix, subscriptions=size, **measured)
            speeds[engine] = measured["publications_per_second"]
        return speeds

    def _speed(self, mix: str, size: int, compiled: Compiled) -> dict[str, Any]:
        films = self._films(PAIRS, size)
        with self.steps.step(f"{mix}, {size:,} subscriptions: matching"):
            matches, seconds = best_of(partial(_count, compiled, films), self.patience)
        return speed(films, size, matches, seconds)

    def _saved(self, mix: str, size: int, compiled: Compiled) -> dict[str, float]:
        films = self.movies.first(BLOCK)
        with self.steps.step(f"{mix}, {size:,} subscriptions: saving and loading"):
            measured = saved(compiled, films)
        self._compared("its saved copy", mix, size, films, measured.is_same)
        return {
            "save_seconds": measured.save_seconds,
            "load_seconds": measured.load_seconds,
            "reload_seconds": measured.reload_seconds,
            "saved_bytes_per_subscription": measured.bytes / size,
        }

    def _supports(self, size: int, crisp: Sequence[All], fuzzy_seconds: float) -> None:
        with self.steps.step(f"supports of fuzzy, {size:,} subscriptions: compiling"):
            compiled = Compiled.of(subscriptions_of(crisp))
            _count(compiled, self.movies.first(BLOCK))
        measured = self._speed("supports of fuzzy", size, compiled)
        slowdown = fuzzy_seconds / measured["core_seconds"]
        self.report.add("fuzzy", subscriptions=size, **measured, slowdown=slowdown)

    def _fuzzy_facts(self, mix: str, size: int, compiled: Compiled) -> None:
        """The same subscriptions, films and form of input, with half of the numbers fuzzy."""
        films = self.movies.first(FUZZY_FILMS).publications()
        crisp, fuzzy = arrived(films), arrived(blurred(films))
        with self.steps.step(f"{mix}, {size:,} subscriptions: fuzzy films"):
            for some in (crisp, fuzzy):
                count_matches(compiled, some[:1])
            crisp_run = best_of(partial(count_matches, compiled, crisp), self.patience)
            fuzzy_run = best_of(partial(count_matches, compiled, fuzzy), self.patience)
        self.report.add(
            "fuzzy facts",
            mix=mix,
            subscriptions=size,
            **speed(self.movies.first(FUZZY_FILMS), size, *fuzzy_run),
            crisp_matches_per_publication=crisp_run[0] / len(films),
            crisp_core_seconds=crisp_run[1],
            slowdown=fuzzy_run[1] / crisp_run[1],
        )

    def _alone(self, size: int, compiled: Compiled) -> None:
        films = self.movies.first(ALONE)
        with self.steps.step(f"one film at a time, {size:,} subscriptions"):
            matches, seconds = best_of(partial(_count, compiled, films, 1), self.patience)
        measured = speed(films, size, matches, seconds)
        self.report.add("one at a time", mix=CHANGING, subscriptions=size, **measured)

    def _churn(self, size: int, compiled: Compiled) -> None:
        if "churn" in self.skipped:
            return
        conditions = draw_conditions(CHANGING, NEWCOMERS, self.movies, seed=2)
        newcomers = [replace(one, id=f"new {one.id}") for one in subscriptions_of(conditions)]
        with self.steps.step(f"subscriptions come and go among {size:,}"):
            measured = churn(compiled, newcomers, self.movies)
        self.report.add("churn", mix=CHANGING, subscriptions=size, **measured)

    def _compared(self, other: str, mix: str, size: int, films: Movies, same: bool) -> None:
        if not same:
            raise Different(f"{mix}, {size:,} subscriptions: the index and {other}")
        pairs = size * len(films)
        self.report.add("equal", mix=mix, subscriptions=size, to=other, pairs_compared=pairs)

    def _films(self, pairs: int, subscriptions: int) -> Movies:
        return self.movies.first(pairs // subscriptions)


def speed(films: Movies, subscriptions: int, matches: int, seconds: float) -> dict[str, Any]:
    """The facts of a run."""
    per_second = len(films) / seconds
    return {
        "publications": len(films),
        "matches_per_publication": matches / len(films),
        "core_seconds": seconds,
        "publications_per_second": per_second,
        "pairs_per_second": per_second * subscriptions,
    }


def _count(compiled: Compiled, films: Movies, block: int = BLOCK) -> int:
    """Block by block, since the matches of a large run would fill the memory."""
    return sum(found.count for found in compiled.blocks(films, block))
