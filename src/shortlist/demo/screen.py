"""The last screen: what was withheld, by policy, and a few shortlists with their reasons."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from shortlist.demo.files import DemoFiles
from shortlist.demo.outcome import Outcome
from shortlist.demo.stories import Story, Told
from shortlist.demo.words import headline, moment, policy_words, subscription_words, why
from shortlist.measures.traffic import traffic_saved

WIDTH = 100


def print_screen(
    console: Console, files: DemoFiles, outcome: Outcome, stories: Sequence[Story]
) -> None:
    """Fits 100 columns; without colours where nobody would see them."""
    console.print()
    console.print(_summary(outcome))
    console.print()
    console.print(_policies(outcome))
    for story in stories:
        console.print()
        console.print(_story(story))
    console.print()
    console.print(_files(files, stories), soft_wrap=True)


def _summary(outcome: Outcome) -> RenderableType:
    report = outcome.report
    readers = len({shortlist.subscriber for shortlist in outcome.shortlists.values()})
    saved = traffic_saved(report["matched"], report["deliveries"])
    return Text.assemble(
        ("A week in a city that does not exist", "bold"),
        f"\n{report['publications']:,} publications for {readers:,} readers with "
        f"{len(outcome.shortlists):,} shortlists; {report['rejects']:,} lines rejected.\n"
        f"{report['matched']:,} matches, ",
        (f"{report['deliveries']:,} deliveries", "bold green"),
        f" ({report['promotions']:,} of them promotions): ",
        (f"{saved:.0%} was withheld", "bold"),
        f". Spark took {report['seconds']:.0f} s.",
    )


def _policies(outcome: Outcome) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="By policy", title_justify="left")
    table.add_column("policy")
    for column in ("shortlists", "matches", "deliveries", "delivered"):
        table.add_column(column, justify="right")
    table.add_column("")
    for count in outcome.by_policy():
        table.add_row(
            count.name,
            f"{count.shortlists:,}",
            f"{count.matches:,}",
            f"{count.deliveries:,}",
            f"{count.share:.0%}",
            _bar(count.share),
        )
    return table


def _bar(share: float, width: int = 24) -> Text:
    filled = round(share * width)
    return Text.assemble(("█" * filled, "green"), ("·" * (width - filled), "dim"))


def _story(story: Story) -> RenderableType:
    shortlist = story.shortlist
    heading = Text.assemble(
        (shortlist.id, "bold cyan"),
        f"  {policy_words(shortlist.policy)}: {story.matched:,} matched, "
        f"{story.delivered:,} delivered",
    )
    return Group(heading, Padding(_wishes(story), (0, 0, 0, 2)), _latest(story))


def _wishes(story: Story) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    for subscription in story.subscriptions:
        grid.add_row(
            Text(subscription.id.rpartition("/")[2], "cyan"), Text(subscription_words(subscription))
        )
    if story.shortlist.prefers:
        grid.add_row(Text("prefers", "cyan"), Text(", ".join(_preferences(story))))
    elif story.shortlist.combine != "max":
        grid.add_row(Text("combine", "cyan"), Text(story.shortlist.combine))
    return grid


def _preferences(story: Story) -> Iterator[str]:
    for pair in story.shortlist.prefers:
        yield " to ".join(name.rpartition("/")[2] for name in pair)


def _latest(story: Story) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, width=WIDTH)
    table.add_column("when", no_wrap=True)
    table.add_column("publication", no_wrap=True)
    table.add_column("rank", justify="right")
    table.add_column("score", justify="right")
    table.add_column("why", ratio=1)
    for told in story.latest:
        rank = told.last["rank"]
        place = "–" if rank is None else str(rank)
        table.add_row(*_what(told), place, f"{told.last['score']:.3g}", why(told, story))
    if story.withheld is not None:
        table.add_row(*_what(story.withheld), "", "", why(story.withheld, story), style="dim")
    return table


def _what(told: Told) -> tuple[str, Text]:
    name = told.last["publication"]
    return moment(told.last["time"]), Text.assemble((name, "bold"), f" {headline(told.data)}")


def _files(files: DemoFiles, stories: Sequence[Story]) -> Text:
    text = Text.assemble(
        ("Files: ", "bold"),
        f"{files.registry}/, {files.publications}, {files.deliveries}, {files.rejects}\n",
        ("Picture: ", "bold"),
        str(files.picture),
    )
    told = [(story, story.withheld or story.latest[-1]) for story in stories]
    if told:
        story, publication = told[0]
        text.append("\nAsk why, e.g.:\n", "bold")
        text.append(f"  {explain_command(files, publication.last['publication'], story)}")
    return text


def explain_command(files: DemoFiles, publication: str, story: Story) -> str:
    """What to paste into a shell."""
    program = Path(sys.executable)
    shown = program.relative_to(Path.cwd()) if program.is_relative_to(Path.cwd()) else program
    words = [str(shown), "-m", "shortlist", "explain", str(files.registry), str(files.publications)]
    words += ["--publication", publication, "--shortlist", story.shortlist.id]
    return shlex.join(words)
