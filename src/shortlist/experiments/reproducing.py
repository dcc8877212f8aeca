"""Runs experiments, one after the other, and says whether the papers' claims hold."""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import shortlist
from shortlist.experiments.claims import Claim, Measures, Verdict
from shortlist.experiments.papers import Experiments, Figure
from shortlist.experiments.picture import canvas
from shortlist.experiments.run import DataMissing, Run
from shortlist.jobs.job import Ground
from shortlist.jobs.sinks import replacing
from shortlist.progress import Steps

PICTURES = (".png", ".svg")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one figure."""

    paper: str
    name: str
    figure: Figure
    measures: Measures
    quick: bool
    seed: int
    seconds: float = 0.0
    skipped: str | None = None

    @property
    def verdicts(self) -> list[tuple[Claim, Verdict]]:
        if self.skipped is not None:
            return []
        return [(claim, claim.judge(self.measures)) for claim in self.figure.claims]

    @property
    def agreeing(self) -> int:
        return sum(verdict.agrees for _, verdict in self.verdicts)

    def document(self) -> dict[str, Any]:
        """Nothing in it depends on when and where it ran."""
        verdicts = [
            {
                "says": claim.says,
                "expected": claim.expectation(),
                "found": verdict.found,
                "agrees": verdict.agrees,
                **({} if verdict.agrees else {"gap": verdict.gap, "because": claim.because}),
            }
            for claim, verdict in self.verdicts
        ]
        return {
            "size": "quick" if self.quick else "full",
            "seed": self.seed,
            "measures": self.measures,
            "verdicts": verdicts,
        }


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Experiments at one size; where each stands that is done."""

    experiments: Experiments
    ground: Ground
    steps: Steps
    out: Path
    quick: bool = False
    seed: int = 0
    data_folder: Path | None = None
    again: bool = False

    def run(self, paper: str | None = None, figure: str | None = None) -> Iterator[Outcome]:
        """Each figure as soon as it is done; those that were done before are only read."""
        for chosen in self.experiments.chosen(paper, figure):
            yield self._outcome(*chosen)

    def _outcome(self, paper: str, name: str) -> Outcome:
        figure = self.experiments.figure(paper, name)
        started = time.monotonic()
        folder = self.out / paper / name / self._version(paper)
        run = Run(self.ground, self.steps, folder, self.quick, self.seed, self.data_folder)
        whole = folder / "whole.json"
        skipped = None
        measures: Measures = {}
        try:
            if self.again:
                for file in folder.glob("*.json"):
                    file.unlink()
            entry = self.experiments.entry(paper, name)
            if not whole.exists():
                measures = entry.measure(run)
                folder.mkdir(parents=True, exist_ok=True)
                with replacing(whole) as file:
                    file.write_text(json.dumps(measures))
            measures = json.loads(whole.read_bytes())
        except DataMissing as missing:
            skipped = str(missing)
        seconds = time.monotonic() - started
        return Outcome(paper, name, figure, measures, self.quick, self.seed, seconds, skipped)

    def save(self, outcome: Outcome, folder: Path) -> None:
        """The result and its pictures."""
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / f"{outcome.name}.json") as file:
            file.write_text(f"{json.dumps(outcome.document(), indent=1, ensure_ascii=False)}\n")
        entry = self.experiments.entry(outcome.paper, outcome.name)
        with canvas(*(folder / f"{outcome.name}{ending}" for ending in PICTURES)) as picture:
            entry.draw(outcome.measures, picture, outcome.figure)

    def _version(self, paper: str) -> str:
        """Names all that decides what is found."""
        size = "quick" if self.quick else "full"
        sources = sha256(_system().encode())
        for file in self.experiments.sources(paper):
            sources.update(file.read_bytes())
        return f"{size}-{self.seed}-{sources.hexdigest()[:12]}"


@cache
def _system() -> str:
    """Of everything that is installed as this system."""
    root = Path(shortlist.__file__).parent
    sources = sha256()
    for file in sorted(root.rglob("*.py")):
        if "experiments" not in file.parts and "cli" not in file.parts:
            sources.update(file.read_bytes())
    return sources.hexdigest()


def stored(experiments: Experiments) -> Mapping[tuple[str, str], Outcome]:
    """What full runs found, as it stands beside the experiments."""
    found = {}
    for paper, name in experiments.chosen(None, None):
        file = experiments.results(paper) / f"{name}.json"
        if file.exists():
            document = json.loads(file.read_bytes())
            figure = experiments.figure(paper, name)
            quick = document["size"] == "quick"
            measures, seed = document["measures"], document["seed"]
            found[paper, name] = Outcome(paper, name, figure, measures, quick, seed)
    return found
