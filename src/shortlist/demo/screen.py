"""The last screen: what was withheld, by policy, and a few shortlists with their reasons."""

import shlex
import sys
from collections.abc import Sequence
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

WIDTH, BAR = 100, 24


def print_screen(
    console: Console, files: DemoFiles, outcome: Outcome, stories: Sequence[Story]
) -> None:
    """Fits 100 columns; without colours where nobody would see them."""
    for part in (_summary(outcome), _policies(outcome), *map(_story, stories)):
        console.print()
        console.print(part)
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
        numbers = [f"{number:,}" for number in count[1:]]
        filled = round(count.share * BAR)
        bar = Text.assemble(("█" * filled, "green"), ("·" * (BAR - filled), "dim"))
        table.add_row(count.name, *numbers, f"{count.share:.0%}", bar)
    return table


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
    rows = {_part(each.id): subscription_words(each) for each in story.subscriptions}
    if story.shortlist.prefers:
        pairs = (" to ".join(map(_part, pair)) for pair in story.shortlist.prefers)
        rows["prefers"] = ", ".join(pairs)
    elif story.shortlist.combine != "max":
        rows["combine"] = story.shortlist.combine
    for name, words in rows.items():
        grid.add_row(Text(name, "cyan"), Text(words))
    return grid


def _part(name: str) -> str:
    return name.rpartition("/")[2]


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
    for story in stories[:1]:
        asked = (story.withheld or story.latest[-1]).last["publication"]
        program = Path(sys.executable)
        shown = program.relative_to(Path.cwd()) if program.is_relative_to(Path.cwd()) else program
        words = [shown, "-m", "shortlist", "explain", files.registry, files.publications]
        words += ["--publication", asked, "--shortlist", story.shortlist.id]
        text.append("\nAsk why, e.g.:\n", "bold")
        text.append(f"  {shlex.join(map(str, words))}")
    return text
