"""The last screen: what was withheld, by policy, and a few shortlists with their reasons."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from examples.city.files import DemoFiles
from examples.city.outcome import Outcome
from examples.city.stories import Story, Told
from examples.city.tables import CITY
from shortlist.measures.spread import traffic_saved
from shortlist.model.durations import Span, format_duration
from shortlist.model.policy import Cap, Chain, Digest, Novelty, Policy, Quiet, TopK, Window
from shortlist.model.subscription import Subscription, Weights


def policy_words(policy: Policy) -> str:
    """
    >>> policy_words(Window(k=3, window=100))
    'the 3 best of the last 100 matches'
    >>> policy_words(TopK(k=2, refresh=3_600_000_000))
    'unless 2 better ones are still valid, each for 1h'
    """
    match policy:
        case TopK(k=k, refresh=refresh, period=period):
            lasting = [f"each for {format_duration(refresh)}"] if refresh else []
            lasting += [f"within {format_duration(period)}"] if period else []
            better = "a better one is" if k == 1 else f"{k} better ones are"
            return ", ".join([f"unless {better} still valid", *lasting])
        case Window(k=k, window=window):
            span = format_duration(window.micros) if isinstance(window, Span) else window
            whole = "all so far" if span is None else f"the last {span}"
            return f"the {k} best of {whole}" + (" matches" if isinstance(span, int) else "")
        case Novelty(rate=rate, period=period):
            return f"{rate:.0%} of every {period} matches, the most novel"
        case Digest(k=k, at=at, zone=zone):
            return f"the {k} best of each day, at {at} in {zone}"
        case Quiet(from_=begin, to=end, zone=zone):
            return f"nothing from {begin} to {end} in {zone}"
        case Cap(most=most, per=per):
            return f"at most {most} a {per}"
        case Chain(policies=policies):
            return ", then ".join(map(policy_words, policies))
    return "whatever matches"


def subscription_words(subscription: Subscription) -> str:
    """The subscription as its file has it."""
    parts = [subscription.where or "everything"]
    if subscription.score is not None:
        parts.append(f"score {subscription.score}")
    if isinstance(subscription.norm, Weights):
        parts.append(f"weights {list(subscription.norm.weights)}")
    elif subscription.norm != "min":
        parts.append(f"norm {subscription.norm}")
    return "  ·  ".join(parts)


def headline(data: Mapping[str, Any]) -> str:
    """A publication in a few words.

    >>> headline({"district": "Hill", "size": 54, "rent": {"between": [700, 800]}})
    'Hill, 54 m², 700–800'
    """
    if "rent" in data:
        return f"{data['district']}, {_told(data['size'])} m², {_told(data['rent'])}"
    if "title" in data:
        starts = datetime.fromisoformat(data["starts"])
        return f"{data['title']}, {data['cinema']} {starts:%H:%M}"
    unit = CITY["sensors"][data["kind"]]["unit"]
    return f"{data['kind']} at {data['station']}, {_told(data['value'])} {unit}"


def moment(time: str) -> str:
    """
    >>> moment("2026-03-05T09:30:00.000Z")
    'Thu 09:30'
    """
    return f"{datetime.fromisoformat(time):%a %H:%M}"


def why(told: Told, story: Story) -> str:
    """The engine's reasons in short: for which subscription, how far it holds, who stood above."""
    arrival, last = told.reasons[0], told.last
    if not last["delivered"]:
        return f"not delivered: {last['reason']}{_nearest(arrival, ',')}"
    parts = [] if len(story.subscriptions) == 1 else [last["subscription"].rpartition("/")[2]]
    parts += _degrees(arrival)
    if last["reason"].startswith("promoted"):
        parts.append(f"promoted, waited since {moment(arrival['time'])}{_nearest(arrival)}")
    elif arrival.get("above"):
        parts.append(_nearest(arrival).strip())
    elif last["rank"] == 1:
        parts.append("none above")
    return ", ".join(parts) or last["reason"]


def _nearest(arrival: Mapping[str, Any], separator: str = "") -> str:
    """Of those that stood above, the one that stood next."""
    for above in (arrival.get("above") or ())[-1:]:
        return f"{separator} below {above['publication']} ({above['score']:.3g})"
    return ""


def _degrees(arrival: Mapping[str, Any]) -> list[str]:
    """How far the named subscription holds, where it does not hold wholly."""
    for subscription in arrival["subscriptions"]:
        possibility, necessity = subscription["possibility"], subscription["necessity"]
        if subscription["id"] != arrival["subscription"] or necessity == 1.0:
            continue
        if possibility == necessity:
            return [f"degree {possibility:.2g}"]
        return [f"possibility {possibility:.2g}, necessity {necessity:.2g}"]
    return []


def _told(value: object) -> str:
    """A fact as its publisher tells it."""
    match value:
        case {"term": term}:
            return str(term)
        case {"between": [low, high]}:
            return f"{low}–{high}"
        case {"trapezoid": [low, *_, high]}:
            return f"about {(low + high) / 2:g}"
    return str(value)


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
