"""Figures: JSON lines while they are measured, tables in the end."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .goals import GOALS

Row = dict[str, Any]

COLUMNS = (
    ("subscriptions", "subscriptions", "{:,}"),
    ("matches each", "matches_per_publication", "{:,.0f}"),
    ("publications/s", "publications_per_second", "{:,.0f}"),
    ("pairs/s", "pairs_per_second", "{:.2e}"),
    ("× NumPy", "ratio_to_numpy", "{:.1f}"),
    ("× DuckDB", "ratio_to_duckdb", "{:.1f}"),
    ("build s", "build_seconds", "{:.1f}"),
    ("bytes each", "bytes_per_subscription", "{:.0f}"),
    ("load s", "load_seconds", "{:.3f}"),
)
"""Of the table of speeds: header, fact and format."""
WIDTH = 132


class Report:
    """All that was measured; `common` holds for every figure."""

    def __init__(self, **common: Any) -> None:
        self.rows: list[Row] = []
        self._common = common

    def add(self, figure: str, **facts: Any) -> Row:
        """Prints a figure and keeps it; `load` tells how busy the machine was."""
        load = round(os.getloadavg()[0], 1)
        row = {"figure": figure, **_rounded(facts), **self._common, "load": load}
        self.rows.append(row)
        print(json.dumps(row), flush=True)
        return row

    def of(self, facts: Mapping[str, Any]) -> list[Row]:
        """The figures that have these facts.

        >>> report = Report(data="generated")
        >>> len(report.of({"figure": "matching"}))
        0
        """
        return [row for row in self.rows if all(row.get(key) == facts[key] for key in facts)]

    def write(self, file: Path) -> None:
        file.write_text("".join(f"{json.dumps(row)}\n" for row in self.rows))

    def show(self) -> None:
        console = Console(width=max(WIDTH, Console().width))
        console.print(self._speeds())
        console.print(self._goals())

    def _speeds(self) -> Table:
        table = Table("mix", title="Shortlist's index on one core", title_justify="left")
        for header, _, _ in COLUMNS:
            table.add_column(header, justify="right")
        for row in self.of({"figure": "matching", "engine": "index"}):
            cells = [form.format(row[key]) if key in row else "" for _, key, form in COLUMNS]
            table.add_row(row["mix"], *cells)
        return table

    def _goals(self) -> Table:
        table = Table("figure", title="What was to be shown", title_justify="left")
        for header in ("goal", "measured"):
            table.add_column(header, justify="right")
        table.add_column()
        for goal in GOALS:
            found = [row[goal.key] for row in self.of(goal.facts) if goal.key in row]
            for value in found:
                met = "[green]met" if goal.is_met(value) else "[red]missed"
                table.add_row(goal.name, goal.text, f"{value:,.4g}", met)
        return table


def _rounded(facts: Mapping[str, Any]) -> Row:
    return {
        key: float(f"{value:.4g}") if isinstance(value, float) else value
        for key, value in facts.items()
    }
