"""Figures: JSON lines while they are measured, tables in the end."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from .goals import Goal

Row = dict[str, Any]

WIDTH = 132


class Different(Exception):
    """Two that should agree do not."""


class Column(NamedTuple):
    """Of a table: where no number is, it stays empty."""

    header: str
    fact: str
    form: str


class Sheet(NamedTuple):
    """A table of the figures that have some facts, one of which begins each line."""

    title: str
    facts: Mapping[str, Any]
    name: str
    columns: Sequence[Column]


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

    def compared(self, same: bool, what: str, **facts: Any) -> None:
        """Adds that two answers were compared, or raises `Different`."""
        if not same:
            told = ", ".join(f"{name} {value}" for name, value in facts.items())
            raise Different(f"{what}: {told}")
        self.add("equal", of=what, **facts)

    def of(self, facts: Mapping[str, Any]) -> list[Row]:
        """The figures that have these facts.

        >>> report = Report(data="generated")
        >>> len(report.of({"figure": "matching"}))
        0
        """
        return [row for row in self.rows if all(row.get(key) == facts[key] for key in facts)]

    def judge(self, goals: Sequence[Goal]) -> None:
        """Adds for each goal what was measured, and whether that is enough."""
        for goal, value in list(self.measured(goals)):
            facts = {"wanted": goal.text, "measured": value, "is_met": goal.is_met(value)}
            self.add("goal", of=goal.name, **facts)

    def measured(self, goals: Sequence[Goal]) -> Iterator[tuple[Goal, float]]:
        """What the figures say about each goal."""
        for goal in goals:
            for row in self.of(goal.facts):
                if goal.key in row:
                    yield goal, row[goal.key]

    def write(self, file: Path) -> None:
        file.write_text("".join(f"{json.dumps(row)}\n" for row in self.rows))

    def show(self, sheets: Sequence[Sheet], goals: Sequence[Goal]) -> None:
        console = Console(width=max(WIDTH, Console().width))
        for sheet in sheets:
            console.print(self._table(sheet))
        console.print(self._goals(goals))

    def _table(self, sheet: Sheet) -> Table:
        table = Table(sheet.name, title=sheet.title, title_justify="left")
        for column in sheet.columns:
            table.add_column(column.header, justify="right")
        for row in self.of(sheet.facts):
            cells = [
                form.format(row[fact]) if fact in row else "" for _, fact, form in sheet.columns
            ]
            table.add_row(str(row[sheet.name]), *cells)
        return table

    def _goals(self, goals: Sequence[Goal]) -> Table:
        table = Table("figure", title="What was to be shown", title_justify="left")
        for header in ("goal", "measured"):
            table.add_column(header, justify="right")
        table.add_column()
        for goal, value in self.measured(goals):
            met = "[green]met" if goal.is_met(value) else "[red]missed"
            table.add_row(goal.name, goal.text, f"{value:,.4g}", met)
        return table


def _rounded(facts: Mapping[str, Any]) -> Row:
    return {
        key: float(f"{value:.4g}") if isinstance(value, float) else value
        for key, value in facts.items()
    }
