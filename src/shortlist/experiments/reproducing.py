"""Runs experiments, one after the other, and says whether the papers' claims hold: of each figure,
and on the page of all."""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import shortlist
from shortlist.experiments.claims import Claim, Measures, Verdict, shown
from shortlist.experiments.papers import Experiments, Figure
from shortlist.experiments.picture import canvas
from shortlist.experiments.run import DataMissing, Run
from shortlist.jobs.sinks import replacing

PICTURES = (".png", ".svg")
MOST_NUMBERS = 8
HEAD = """# Gallery

Every figure and table of the five sources, from full runs of this system: what the paper says, what
was found, and whether they agree. This page is made by `shortlist reproduce --save`; `shortlist
reproduce PAPER FIGURE` runs one of them again, `--quick` in a smaller size.
"""


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
    asked: Run
    """The size and the place of all of them."""
    again: bool = False

    def run(self, paper: str | None = None, figure: str | None = None) -> Iterator[Outcome]:
        """Each figure as soon as it is done; those that were done before are only read."""
        for chosen in self.experiments.chosen(paper, figure):
            yield self._outcome(*chosen)

    def _outcome(self, paper: str, name: str) -> Outcome:
        figure = self.experiments.figure(paper, name)
        started = time.monotonic()
        folder = self.asked.kept / paper / name / self._version(paper)
        run = replace(self.asked, kept=folder)
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
        return Outcome(paper, name, figure, measures, run.quick, run.seed, seconds, skipped)

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
        size = self.asked.pick("full", "quick")
        sources = sha256(_system().encode())
        for file in self.experiments.sources(paper):
            sources.update(file.read_bytes())
        return f"{size}-{self.asked.seed}-{sources.hexdigest()[:12]}"


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


def gallery(experiments: Experiments) -> str:
    """A page in Markdown, which stands in `docs`."""
    outcomes = stored(experiments)
    lines = [HEAD, *_overview(experiments, [*outcomes.values()])]
    for name, paper in experiments.papers.items():
        lines += [f"## {paper.title}", ""]
        for figure in paper.figures:
            outcome = outcomes.get((name, figure))
            lines += _figure(experiments, outcome) if outcome else []
    return "\n".join(lines)


def _overview(experiments: Experiments, outcomes: list[Outcome]) -> Iterator[str]:
    yield "| paper | figures | claims | agree |"
    yield "|---|---|---|---|"
    for name, paper in experiments.papers.items():
        of_it = [outcome for outcome in outcomes if outcome.paper == name]
        claims = sum(len(outcome.verdicts) for outcome in of_it)
        agreeing = sum(outcome.agreeing for outcome in of_it)
        title = f"[{paper.title}](#{_anchor(paper.title)})"
        yield f"| {title} | {len(of_it)} | {claims} | {agreeing} |"
    yield ""


def _figure(experiments: Experiments, outcome: Outcome) -> Iterator[str]:
    figure = outcome.figure
    results = experiments.results(outcome.paper).relative_to(experiments.folder.parent)
    yield f"### {figure.title}\n"
    yield f"{figure.shows}{f' Here: {figure.here}' if figure.here else ''}\n"
    yield f"![{figure.title}](../{results.as_posix()}/{outcome.name}.svg)\n"
    yield f"`shortlist reproduce {outcome.paper} {outcome.name}`\n"
    yield "| the paper | where | expected | found | |"
    yield "|---|---|---|---|---|"
    for claim, verdict in outcome.verdicts:
        yield f"| {' | '.join(verdict_row(claim, verdict))} |"
    yield ""
    for claim, verdict in outcome.verdicts:
        if not verdict.agrees:
            yield f"- *{claim.says}*: {claim.because or 'not explained yet.'}"
    yield ""


def verdict_row(claim: Claim, verdict: Verdict) -> tuple[str, ...]:
    """A claim and what was found, as a row of a table."""
    numbers = [*map(shown, verdict.found[:MOST_NUMBERS])]
    more = ", …" if len(verdict.found) > MOST_NUMBERS else ""
    agrees = "agrees" if verdict.agrees else f"differs by {shown(verdict.gap)}"
    found = ", ".join(numbers) + more
    return claim.says, claim.where, claim.expectation(), found, agrees


def _anchor(title: str) -> str:
    kept = (each for each in title.lower() if each.isalnum() or each in " -")
    return "".join(kept).replace(" ", "-")
