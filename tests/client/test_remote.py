"""Clients of a remote service, sync and async: what they send, retry and follow."""

import asyncio
import threading
import time

import pytest

from shortlist.client.keys import Holder, add_key
from shortlist.client.remote import AsyncRemote, Refusal, Remote, Unreachable
from shortlist.service.serving import bound_socket
from tests.service.servers import event, eventually, served


def test_a_program_publishes_subscribes_and_asks(url):
    with Remote(url) as remote:
        assert remote.publish(event("f1", 1350), event("f2", 900))["acknowledged"] == 2
        eventually(lambda: remote.content("flats")["shows"], lambda shows: len(shows) == 2)
        found = remote.content("flats", with_data=True)
        assert [each["data"]["rent"] for each in found["shows"]] == [900, 1350]
        items = eventually(lambda: remote.deliveries("flats", limit=1), lambda page: page["items"])
        assert (len(items["items"]), items["next"]) == (1, items["items"][0]["offset"])
        assert remote.put("subscriptions", "a/b", {"where": "rent < 1"})["id"] == "a/b"
        assert "keeps" in remote.patch("subscriptions", "a/b", {"weight": 2})["effect"]
        assert remote.get("subscriptions", "a/b")["weight"] == 2
        assert len(remote.list("shortlists", limit=2)["items"]) == 2
        assert remote.delete("subscriptions", "a/b")["id"] == "a/b"
        assert remote.retract("ads", "f1")["offset"] > 0
        assert len(remote.try_out({"where": "rent < 1000"})["deliveries"]) == 1
        reasons = remote.explain("flats", {"data": {"rent": 1350}})["subscriptions"]
        assert reasons[0]["score"] == 0.5
        assert remote.status()["published"] == 2
        assert remote.held_back("flats")["publications"] == 1  # the other one was retracted
        assert remote.usage()["subscriptions"]
        assert remote.define("rent", {"low": {"trapezoid": [None, None, 1, 2]}})["id"] == "rent"
        assert remote.vocabulary()["rent"]["terms"].keys() == {"cheap", "low"}
        assert remote.me()["is_open"]


def test_a_refusal_has_its_problems(url):
    with Remote(url) as remote:
        with pytest.raises(Refusal, match="'dear' is not a term") as refused:
            remote.put("subscriptions", "s", {"where": "rent is dear"})
        assert (refused.value.status, refused.value.problems[0].column) == (422, 9)
        with pytest.raises(Refusal, match="there is no live shortlist") as refused:
            next(remote.follow("nobody's"))
        assert refused.value.status == 404


def test_whoever_is_not_there_is_tried_for_a_while(deployment):
    with bound_socket("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
    began = time.monotonic()
    with Remote(f"http://127.0.0.1:{port}", patience=0.5) as remote:
        with pytest.raises(Unreachable, match="GET /status: "):
            remote.status()
        assert time.monotonic() - began < 10
    with Remote(f"http://127.0.0.1:{port}", patience=20) as remote:
        published = []
        thread = threading.Thread(target=lambda: published.append(remote.publish(event("f1", 1))))
        thread.start()
        with served(deployment.log, port=port):
            thread.join(30)
        assert published[0]["acknowledged"] == 1


def test_following_goes_on_without_a_gap(deployment):
    seen = []
    with served(deployment.log) as url:
        port = int(url.rpartition(":")[2])
        with Remote(url) as remote:
            after = remote.content("flats")["after"]
            remote.publish(event("f1", 900))
    with Remote(url) as remote:
        following = remote.follow("flats", after)
        for number in range(2, 5):
            with served(deployment.log, port=port):
                seen.append(next(following).document["publication"])
                remote.publish(event(f"f{number}", 900 - number))
        following.close()
    assert seen == ["f1", "f2", "f3"]


def test_an_async_program_does_the_same(deployment):
    key = add_key(deployment.log, Holder("op", "operator"))

    async def run(url):
        async with AsyncRemote(url, key) as remote:
            following = remote.follow("flats", "0.0")
            await remote.publish(event("f1", 900))
            first = await anext(following)
            await remote.publish(event("f2", 800))
            second = await anext(following)
            await following.aclose()
            with pytest.raises(Refusal):
                await remote.get("shortlists", "nobody's")
            return [first.document["publication"], second.document["publication"]]

    with served(deployment.log) as url:
        assert asyncio.run(run(url)) == ["f1", "f2"]
        with Remote(url, "wrong") as remote, pytest.raises(Refusal) as refused:
            remote.status()
        assert refused.value.status == 401
