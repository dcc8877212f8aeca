"""Each service to start from does what it is for, on what its publisher sends."""

import subprocess
import sys
from collections import Counter, defaultdict

import pytest
import yaml

from examples.services.examples import EXAMPLES, WIRES
from examples.services.running import all_delivered, publish
from shortlist.client.remote import Remote
from shortlist.measures.spread import entropy
from tests.cli.programs import ARRIVAL, Deployment
from tests.docs.pages import ROOT
from tests.service.servers import served

COUNT = 150
QUICK = ("--pause", "0", "--port", "0")


@pytest.fixture
def delivered(request, tmp_path):
    """What came to each shortlist of an example, and what each shows."""
    example = EXAMPLES[request.param]
    registry = yaml.safe_load(example.registry.read_text(encoding="utf-8"))
    deployment = Deployment(tmp_path, registry, shards=1, settings=ARRIVAL)
    with deployment.running(), served(deployment.log) as url, Remote(url) as remote:
        publish(remote, example, COUNT, pause=0)
        found = all_delivered(remote, COUNT)
        yield found, {name: remote.content(name, with_data=True)["shows"] for name in found}


@pytest.mark.parametrize("delivered", ["news_desk"], indirect=True)
def test_a_desk_hears_of_every_wire(delivered):
    (stories,) = delivered[0].values()
    heard = Counter(each["source"] for each in stories)
    assert heard.keys() == WIRES.keys()
    assert sum(heard.values()) <= COUNT // 5 + 5
    assert entropy([*heard.values()]) > entropy([*WIRES.values()]) + 0.3


@pytest.mark.parametrize("delivered", ["flat_hunting"], indirect=True)
def test_flats_are_cheap_and_near_to_a_degree(delivered):
    shows = delivered[1]["the student's"]
    assert len(shows) == 5
    scores = [each["score"] for each in shows]
    assert scores == sorted(scores, reverse=True)
    assert 0 < scores[-1] <= 1
    # who names a range only may match better than it must
    came = [each for some in delivered[0].values() for each in some]
    assert any(each["possibility"] > each["necessity"] for each in came)
    assert {each["data"]["street"] for each in delivered[1]["the family's"]} == {"Park Row"}


@pytest.mark.parametrize("delivered", ["plant"], indirect=True)
def test_the_worst_readings_of_the_last_minute_are_shown(delivered):
    shows = delivered[1]["control room"]
    assert len(shows) == 3
    assert min(each["score"] for each in shows) >= 0.8
    assert len(delivered[0]["on call"]) == 1


@pytest.mark.parametrize("delivered", ["promotions"], indirect=True)
def test_offers_reach_the_two_best_customers(delivered):
    reached = defaultdict(set)
    for customer, offers in delivered[0].items():
        for offer in offers:
            reached[offer["publication"]].add(customer)
    assert max(map(len, reached.values())) == 2
    # the most loyal one who wants lamps gets every lamp
    assert {"carla", "dora"} in reached.values()


def test_one_command_runs_it():
    done = subprocess.run(
        [sys.executable, "-m", "examples.services", "promotions", "--count", "20", *QUICK],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    where, published, *shortlists = done.stdout.splitlines()
    assert where.startswith("http://127.0.0.1:")
    assert published == "20 published"
    assert [line.partition(":")[0] for line in shortlists] == ["anna", "ben", "carla", "dora"]
