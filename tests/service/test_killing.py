"""A service that is killed while it takes publications in loses none that it acknowledged."""

import json
import re
import signal
import subprocess
import sys
import threading

import httpx

from shortlist.live.locking import AlreadyRunning, only_driver
from shortlist.live.places import state_folder
from shortlist.log.base import INPUT
from tests.service.servers import caller, event, eventually, publish


def started(url, *arguments):
    command = [sys.executable, "-m", "shortlist", "serve", *arguments, "--log", url, "--port", "0"]
    service = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    found = re.match(r"(http://\S+) \(without keys", service.stderr.readline())
    return service, found[1]


def test_what_was_acknowledged_survives_a_kill(deployment):
    acknowledged = {}

    def load(address, prefix):
        with caller(address) as client:
            for number in range(10_000):
                names = [f"{prefix}-{number}-{place}" for place in range(3)]
                try:
                    receipt = publish(client, *(event(name, 1) for name in names))
                except httpx.HTTPError:
                    return
                offsets = range(receipt["first"], receipt["last"] + 1)
                acknowledged.update(zip(offsets, names, strict=True))

    for attempt in range(2):
        service, address = started(deployment.url)
        assert httpx.get(f"{address}/readyz", timeout=30).status_code == 200
        threads = [threading.Thread(target=load, args=(address, f"{attempt}{n}")) for n in range(4)]
        for thread in threads:
            thread.start()
        threads[0].join(1.5)
        service.send_signal(signal.SIGKILL)
        for thread in threads:
            thread.join()
        service.wait()
        service.stderr.close()
    assert len(acknowledged) > 50
    for entry in deployment.log.read(INPUT, 0):
        name = acknowledged.pop(entry.offset, None)
        assert name is None or json.loads(entry.content)["id"] == name
    assert acknowledged == {}


def test_on_another_address_it_does_not_start_without_keys(deployment):
    command = [sys.executable, "-m", "shortlist", "serve", "--log", deployment.url]
    done = subprocess.run(
        [*command, "--host", "0.0.0.0"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("0.0.0.0: expected keys, found none")


def test_a_deployment_that_a_service_runs_ends_with_it_even_if_it_is_killed(tmp_path):
    registry = tmp_path / "registry.json"
    registry.write_text(json.dumps({"subscriptions": [{"id": "all"}]}))
    url = f"sqlite:{tmp_path}/city.log"
    service, address = started(url, str(registry))
    with caller(address) as client:
        eventually(lambda: client.get("/readyz").status_code, lambda status: status == 200)
        assert [each["id"] for each in client.get("/shortlists").json()["items"]] == ["all"]
    service.send_signal(signal.SIGKILL)
    service.wait()
    service.stderr.close()
    eventually(lambda: is_driven(state_folder(url)), lambda driven: not driven)


def is_driven(folder):
    try:
        with only_driver(folder):
            return False
    except AlreadyRunning:
        return True


def test_a_service_ends_with_a_deployment_that_cannot_run(tmp_path):
    registry = tmp_path / "registry.json"
    registry.write_text(json.dumps({"subscriptions": [{"id": "bad", "where": "rent <"}]}))
    service, _ = started(f"sqlite:{tmp_path}/city.log", str(registry))
    _, said = service.communicate(timeout=120)
    assert service.returncode == 2
    assert "subscription 'bad': where: column 7: expected" in said
    assert "the deployment has ended, with status 2" in said
