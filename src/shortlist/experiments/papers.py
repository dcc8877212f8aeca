"""The papers whose figures are reproduced: a folder each, with what the paper says and how to run.

experiments/novelty/expected.json      titles and claims of its figures
experiments/novelty/figure_4_1.py      measure(run) and draw(measures, canvas, figure)
experiments/novelty/results/           what full runs found: JSON, PNG, SVG
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from shortlist.experiments.claims import Claim, Measures
from shortlist.model.problem import ShortlistError
from shortlist.model.wording import choice_of

if TYPE_CHECKING:
    import matplotlib.figure

    from shortlist.experiments.run import Run

EXPECTED = "expected.json"


class UnknownExperiment(ShortlistError):
    """There is no such paper or figure, or no experiments at all."""


class Figure(BaseModel):
    """A figure or table of a paper."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    shows: str
    """What the paper's figure shows, and under which setting."""
    here: str = ""
    """What is different here: other data, another size, another reading."""
    claims: list[Claim]


class Paper(BaseModel):
    """One of the sources."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    figures: dict[str, Figure]


class Entry(Protocol):
    """A module that reproduces one figure."""

    def measure(self, run: Run) -> Measures: ...

    def draw(
        self, measures: Measures, canvas: matplotlib.figure.Figure, figure: Figure
    ) -> None: ...


class Experiments:
    """The experiments of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.papers = {
            file.parent.name: _read(file) for file in sorted(self.folder.glob(f"*/{EXPECTED}"))
        }
        if not self.papers:
            raise UnknownExperiment(
                f"{folder}: expected a folder for each paper with a file {EXPECTED}; it comes with"
                " a checkout of the project"
            )

    def chosen(self, paper: str | None, figure: str | None) -> Sequence[tuple[str, str]]:
        """The figures of all papers, of one, or one of them."""
        if paper is not None and paper not in self.papers:
            known = choice_of(paper, self.papers)
            raise UnknownExperiment(f"there is no paper {paper!r}; {known}")
        names = [paper] if paper is not None else [*self.papers]
        if figure is not None and paper is not None:
            figures = self.papers[paper].figures
            if figure not in figures:
                known = choice_of(figure, figures)
                raise UnknownExperiment(f"there is no figure {figure!r} of {paper}; {known}")
            return [(paper, figure)]
        return [(name, each) for name in names for each in self.papers[name].figures]

    def figure(self, paper: str, figure: str) -> Figure:
        return self.papers[paper].figures[figure]

    def entry(self, paper: str, figure: str) -> Entry:
        """The module that reproduces a figure."""
        beside = str(self.folder.parent)
        if beside not in sys.path:
            sys.path.insert(0, beside)
        return cast(Entry, import_module(f"{self.folder.name}.{paper}.{figure}"))

    def sources(self, paper: str) -> Sequence[Path]:
        """Whatever decides what an experiment of a paper finds, beside the system itself."""
        return sorted([*self.folder.glob("*.py"), *(self.folder / paper).glob("*.py")])

    def results(self, paper: str) -> Path:
        return self.folder / paper / "results"


def _read(file: Path) -> Paper:
    try:
        return Paper.model_validate_json(file.read_bytes())
    except ValidationError as error:
        problems = [
            f"{file.parent.name}/{file.name}: {'.'.join(map(str, each['loc']))}: {each['msg']}"
            for each in error.errors()
        ]
        raise UnknownExperiment("\n".join(problems)) from None
