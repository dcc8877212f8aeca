"""The program `serve` with the deployment that it runs, from its start to its end."""

import json
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from scripts.nats_server import NatsServer
from shortlist.live.places import files_in, state_folder
from shortlist.log.sqlite import SqliteLog
from tests.service.servers import caller, event, eventually, problem, publish, served
from tests.service.test_killing import is_driven

# Under the present load of the machine; a hang is the fault that it finds.
PATIENCE = 120
METRICS_PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"


@contextmanager
def serving(*arguments):
    """The process, and a client for it."""
    command = [sys.executable, "-m", "shortlist", "serve", *map(str, arguments), "--port", "0"]
    service = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        found = re.match(r"(http://\S+) \(without keys", service.stderr.readline())
        with caller(found[1]) as client:
            yield service, client
    finally:
        service.kill()
        service.wait()
        service.stderr.close()


def ready(client):
    return eventually(
        lambda: client.get("/readyz"), lambda answer: answer.status_code == 200, PATIENCE
    )


def not_ready(client):
    """Why it is not."""
    answer = eventually(
        lambda: client.get("/readyz"), lambda answer: answer.status_code != 200, PATIENCE
    )
    assert answer.headers["retry-after"]
    return problem(answer, 503)["detail"]


def ended(service, which, state):
    """How it ends at a signal: its deployment has ended before."""
    service.send_signal(which)
    status = service.wait(PATIENCE)
    assert not is_driven(state)
    return status


def test_it_is_ready_while_batches_succeed_and_ends_behind_its_deployment(tmp_path):
    registry = tmp_path / "registry.json"
    registry.write_text(json.dumps({"subscriptions": [{"id": "all"}]}))
    url, logs = f"sqlite:{tmp_path}/city.log", tmp_path / "logs.json"
    state = state_folder(url)
    given = ("--with-data", "--time", "event", "--lateness", "0", "--logs", logs)
    with serving(registry, "--log", url, *given) as (service, client):
        ready(client)
        listed = re.findall(r"^\| `(shortlist_\w+)`", METRICS_PAGE.read_text(), re.MULTILINE)
        told = client.get("/metrics").text
        assert [name for name in listed if f"# TYPE {name} " not in told] == []
        assert "# TYPE shortlist_service_requests_total counter" in told

        files = files_in(state).folder
        files.rename(tmp_path / "gone")
        files.write_text("no folder")
        publish(client, event("f1", 900))
        assert not_ready(client).startswith("the deployment fails, and tries again: ")
        assert client.get("/livez").status_code == 200
        assert client.get("/status").status_code == 200
        files.unlink()
        (tmp_path / "gone").rename(files)
        ready(client)
        path = "/shortlists/all/deliveries"
        (found,) = eventually(lambda: client.get(path).json()["items"], bool)
        assert found["delivery"]["data"] == {"rent": 900}
        assert ended(service, signal.SIGTERM, state) == 0
    assert [json.loads(line)["event"] for line in logs.open()][-1] == "stopped"
    log = SqliteLog(tmp_path / "city.log")
    with served(log) as address, caller(address) as client:
        assert "was stopped" in not_ready(client)
        assert client.get("/status").status_code == 200
    log.close()


def test_without_its_log_it_refuses_at_once_and_recovers(tmp_path):
    nats = NatsServer(tmp_path / "nats")
    given = ("--log", f"{nats.url}/city", "--state", tmp_path / "state")
    with serving("--up", *given, "--patience", "5") as (service, client):
        ready(client)
        assert client.put("/subscriptions/all", json={"subscriber": "you"}).status_code == 201
        nats.kill()

        def calls():
            yield client.get("/readyz")
            yield client.get("/shortlists")
            yield client.post("/events", json=event("f0", 1), headers={"ce-id": "f0"})
            yield client.post("/try", json={})
            yield client.put("/subscriptions/more", json={"subscriber": "you"})

        began = time.monotonic()
        for _ in range(10):
            for answer in calls():
                assert answer.headers["retry-after"]
                problem(answer, 503)
            assert client.get("/livez").status_code == 200
        # each would have taken half a minute, and more of them at the same time longer
        assert time.monotonic() - began < 30
        with NatsServer(tmp_path / "nats", nats.port):
            ready(client)
            publish(client, event("f1", 900))
            path = "/shortlists/all/deliveries"
            (found,) = eventually(lambda: client.get(path).json()["items"], bool)
            assert found["delivery"]["publication"] == "f1"
            assert ended(service, signal.SIGINT, tmp_path / "state") == 0
