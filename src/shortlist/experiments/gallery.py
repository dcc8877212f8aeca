"""The page of all figures: what each paper says, what was found, and whether they agree."""

from collections.abc import Iterator

from shortlist.experiments.claims import Claim, Verdict, shown
from shortlist.experiments.papers import Experiments
from shortlist.experiments.reproducing import Outcome, stored

MOST_NUMBERS = 8
HEAD = """# Gallery

Every figure and table of the five sources, from full runs of this system: what the paper says, what
was found, and whether they agree. This page is made by `shortlist reproduce --save`; `shortlist
reproduce PAPER FIGURE` runs one of them again, `--quick` in a smaller size.
"""


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
