"""Eight publishers at once, with clocks that are wrong by a day less to ten years more."""

import json
import threading
import time

import pytest

from scripts.nats_server import NatsServer
from shortlist.intake.files import registry_from_documents
from shortlist.live.driver import Driver, begin
from shortlist.live.files import Files
from shortlist.live.heartbeats import Heartbeats
from shortlist.live.outlets import LogOutlet
from shortlist.log.base import DELIVERIES, INPUT, REJECTS
from shortlist.log.opening import open_log
from shortlist.model.settings import Settings
from shortlist.model.times import format_time
from tests.cli.programs import shortlist

SECOND = 1_000_000
DAY = 86_400 * SECOND
RIGHT = [0, SECOND // 2, -SECOND // 2]
WRONG = [-DAY, -3600 * SECOND, 300 * SECOND, DAY, 3650 * DAY]
EACH = 40
APPENDS = 8


@pytest.fixture(params=["sqlite", "nats"])
def url(request, tmp_path):
    if request.param == "sqlite":
        yield f"sqlite:{tmp_path / 'city.log'}"
        return
    with NatsServer(tmp_path / "nats") as server:
        yield f"{server.url}/city"


def now():
    return time.time_ns() // 1000


class Live:
    """A deployment in this process, which reads while others publish."""

    def __init__(self, url, folder, settings):
        self.log, files = open_log(url), Files(folder)
        every = registry_from_documents({"subscriptions": [{"id": "all"}]})
        begin(self.log, files, every, 2, settings)
        self.driver = Driver(
            self.log,
            files,
            settings,
            lambda task, works: [task(work) for work in works],
            LogOutlet(self.log),
        )
        self.beats = Heartbeats(self.log, SECOND // 10, now)

    def step(self):
        entries = [*self.log.read(INPUT, self.driver.manifest.position)]
        read = self.driver.read_task()
        columns = [*zip(*entries, strict=True)] or [(), (), ()]
        offsets, appended, contents = columns
        self.driver.run_batch(read.items(offsets, contents, appended)[0])
        if not self.beats.close_instant(self.driver.manifest):
            self.beats.beat(self.driver.manifest.latest)

    def documents(self, stream):
        return [json.loads(entry.content) for entry in self.log.read(stream, 0)]


def publish(url, number, skew, acknowledged):
    """One publisher, whose clock is wrong by so much."""
    log = open_log(url)
    for first in range(0, EACH, EACH // APPENDS):
        names = [f"{number}.{each}" for each in range(first, first + EACH // APPENDS)]
        lines = [{"id": name, "source": "s", "time": format_time(now() + skew)} for name in names]
        log.append(INPUT, [json.dumps(line).encode() for line in lines])
        acknowledged += names
        time.sleep(0.02)
    log.close()


def played(url, folder, settings, seconds):
    """A deployment to which eight publishers have published; what was acknowledged, by skew."""
    live = Live(url, folder, settings)
    acknowledged = {skew: [] for skew in RIGHT + WRONG}
    publish(url, "first", 0, acknowledged[0])  # so that no clock sets the time alone
    threads = [
        threading.Thread(target=publish, args=(url, number, skew, names))
        for number, (skew, names) in enumerate(acknowledged.items())
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        live.step()
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        live.step()
        time.sleep(0.05)
    return live, acknowledged


def test_on_arrival_nobodys_clock_matters(url, tmp_path):
    live, acknowledged = played(url, tmp_path / "state", Settings(time="arrival"), 0.5)
    every = {name for names in acknowledged.values() for name in names}
    assert len(every) == EACH * (len(RIGHT + WRONG) + 1)
    assert live.documents(REJECTS) == []
    delivered = live.documents(DELIVERIES)
    assert [one["publication"] for one in delivered] == [
        document["id"] for document in live.documents(INPUT) if "id" in document
    ]  # all of it, in the order of the log
    assert {one["publication"] for one in delivered} == every
    taken = {json.loads(one.content).get("id"): one.appended for one in live.log.read(INPUT, 0)}
    for entry in live.log.read(DELIVERIES, 0):
        assert entry.appended - taken[json.loads(entry.content)["publication"]] < 30 * SECOND
    live.log.close()


def test_on_event_time_only_the_wrong_ones_are_turned_away_and_each_says_why(url, tmp_path):
    settings = Settings(time="event", lateness="2s", ahead="60s")
    live, acknowledged = played(url, tmp_path / "state", settings, 4)
    delivered = {one["publication"] for one in live.documents(DELIVERIES)}
    right = {name for skew in RIGHT for name in acknowledged[skew]}
    assert delivered == right
    reasons = {}
    done = shortlist("watch", "--rejects", "--after", 0, "--until-idle", 0.1, "--json", log=url)
    for line in done.stdout.splitlines():
        document = json.loads(line)
        reasons[json.loads(document["line"])["id"]] = document["reason"]
    wrong = {name: skew for skew in WRONG for name in acknowledged[skew]}
    assert reasons.keys() == wrong.keys()
    for name, skew in wrong.items():
        assert reasons[name].startswith("late by" if skew < 0 else "ahead by"), reasons[name]
    ahead = {reasons[acknowledged[skew][0]] for skew in (300 * SECOND, DAY, 3650 * DAY)}
    assert ahead <= {
        f"ahead by {span}"
        for span in ("5 min", "1 d", "3,650 d", "4.9 min", "24 h", "3,649.9 d", "5.1 min")
    }
    live.log.close()
