"""A small demo from end to end."""

import json
import re
import shlex
import struct

import pytest
from pandas import isna
from rich.console import Console
from typer.testing import CliRunner

from examples.city.city import Mess
from examples.city.files import DemoFiles
from examples.city.readers import FEATURED
from examples.city.show import show
from examples.city.stories import tell
from shortlist.cli.app import app
from shortlist.engine.replay import replay
from shortlist.intake.files import read_registry
from shortlist.model.settings import Settings

pytestmark = pytest.mark.spark

PUBLICATIONS, READERS = 600, 40


@pytest.fixture(scope="module")
def shown(spark, tmp_path_factory):
    files = DemoFiles(tmp_path_factory.mktemp("demo"))
    console = Console(width=100, record=True, force_terminal=False)
    with console.capture() as screen:
        outcome = show(files.folder, PUBLICATIONS, READERS, console)
    return files, outcome, screen.get()


def test_the_job_agrees_with_one_plain_engine(shown):
    files, outcome, _ = shown
    registry = read_registry(files.registry)
    with files.publications.open("rb") as lines:
        expected = [delivery.document() for delivery in replay(registry, lines).deliveries]
    with files.deliveries.open(encoding="utf-8") as lines:
        assert [json.loads(line) for line in lines] == expected
    assert len(outcome.deliveries) == len(expected) == outcome.report["deliveries"]


def test_without_policies_every_match_comes(shown):
    _, outcome, _ = shown
    assert len(outcome.matches) == outcome.report["matched"]
    counts = outcome.by_policy()
    assert sum(count.matches for count in counts) == outcome.report["matched"]
    assert sum(count.deliveries for count in counts) == outcome.report["deliveries"]
    everything = next(count for count in counts if count.name == "everything")
    assert everything.share == 1.0


def test_rejects_are_the_promised_mess(shown):
    files, outcome, _ = shown
    mess = Mess.among(PUBLICATIONS)
    assert outcome.report["rejects"] == mess.malformed + mess.duplicates
    with files.rejects.open(encoding="utf-8") as lines:
        assert len(list(lines)) == outcome.report["rejects"]


def test_the_screen_says_what_matters(shown):
    _, outcome, screen = shown
    report = outcome.report
    assert f"{report['publications']:,} publications for {READERS} readers" in screen
    assert f"{report['matched']:,} matches, {report['deliveries']:,} deliveries" in screen
    assert "was withheld" in screen
    for count in outcome.by_policy():
        assert re.search(rf"{count.name} .*{count.matches:,}", screen)
    for topic in ("reader-0001/homes", "reader-0002/films", "reader-0004/sensors"):
        assert topic in screen
    assert "not delivered: " in screen
    assert "\x1b[" not in screen
    before_files = screen.split("Files:")[0]
    assert max(map(len, before_files.splitlines())) <= 100


def test_reasons_are_about_what_the_job_delivered(shown):
    files, outcome, _ = shown
    registry = read_registry(files.registry)
    readers = [f"reader-{number:04d}" for number in range(1, READERS + 1)]
    stories = tell(outcome, registry, files.publications, Settings(), readers)
    assert len(stories) > len(FEATURED)
    rows = outcome.deliveries.set_index(["shortlist", "publication"])
    for story in stories:
        for told in story.latest:
            row = rows.loc[(story.shortlist.id, told.last["publication"])]
            assert told.last["delivered"]
            assert (told.last["score"], told.last["subscription"]) == (row.score, row.subscription)
            assert (told.last["rank"] or 0) == (0 if isna(row["rank"]) else row["rank"])
        if story.withheld is not None:
            assert not story.withheld.last["delivered"]


def test_the_command_on_the_screen_works(shown):
    _, _, screen = shown
    command = next(line for line in screen.splitlines() if " explain " in line)
    arguments = shlex.split(command)
    result = CliRunner().invoke(app, arguments[arguments.index("explain") :])
    assert result.exit_code == 0
    assert arguments[arguments.index("--publication") + 1] in result.output


def test_the_picture_is_a_png_of_sensible_size(shown):
    files, _, _ = shown
    content = files.picture.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    assert 800 <= width <= 2400
    assert 500 <= height <= 1800
    assert len(content) > 20_000
