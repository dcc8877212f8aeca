"""Runs an example: the service in a process of its own, and its publisher in this one."""

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

from examples.services.examples import Example
from shortlist.client.remote import Document, Remote
from shortlist.model.problem import ShortlistError

READY_SECONDS = 60.0


def run(example: Example, port: int, count: int | None, pause: float) -> None:
    """Until so many are published, or Ctrl-C."""
    with served(example, port) as url, Remote(url, patience=READY_SECONDS) as remote:
        print(f"{url}: {example.name} publishes; look at the page", flush=True)
        with suppress(KeyboardInterrupt):
            publish(remote, example, count, pause)
            print(*outcome(remote, count or 0), sep="\n")


@contextmanager
def served(example: Example, port: int) -> Iterator[str]:
    """The URL of a service with an example's registry, which ends with this; its log is in a folder
    that ends with it, too."""
    with tempfile.TemporaryDirectory() as folder:
        log = f"sqlite:{folder}/{example.name}.log"
        command = ["serve", str(example.registry), "--log", log, "--port", str(port)]
        said = Path(folder, "said.txt")
        with said.open("w") as written:
            service = subprocess.Popen(
                [sys.executable, "-m", "shortlist", *command], stderr=written
            )
        try:
            yield _address(service, said)
        except ShortlistError as error:
            raise SystemExit(f"{error}\n{said.read_text()}") from error
        finally:
            service.terminate()
            service.wait()


def _address(service: "subprocess.Popen[bytes]", said: Path) -> str:
    """What it says when it can be called."""
    while service.poll() is None:
        found = re.search(r"^(http://\S+) \(", said.read_text(), re.MULTILINE)
        if found:
            return found[1]
        time.sleep(0.1)
    raise SystemExit(said.read_text())


def publish(remote: Remote, example: Example, count: int | None, pause: float) -> None:
    for publication in islice(example.publications(), count):
        remote.publish(publication)
        time.sleep(pause)


def outcome(remote: Remote, published: int) -> Iterator[str]:
    """What every shortlist got, once the deployment has come to all that was published."""
    yield f"{published} published"
    for name, delivered in all_delivered(remote, published).items():
        yield f"{name}: {len(delivered)} delivered"
        for entry in remote.content(name, with_data=True)["shows"]:
            yield f"  #{entry['rank']} {entry['publication']}: {entry['data']}"


def all_delivered(remote: Remote, published: int) -> dict[str, list[Document]]:
    """By shortlist; deliveries come to the log just after they are committed."""
    names = [made["id"] for made in remote.list("shortlists")["items"]]
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        status = remote.status()
        found = {name: delivered_to(remote, name) for name in names}
        if status["published"] >= published and status["deliveries"] == total(found):
            return found
        time.sleep(0.1)
    raise SystemExit(f"the deployment did not come to {published} publications")


def total(delivered: Mapping[str, Sequence[Document]]) -> int:
    return sum(map(len, delivered.values()))


def delivered_to(remote: Remote, shortlist: str) -> list[Document]:
    """All that came to a shortlist."""
    found: list[Document] = []
    after: int | None = 0
    while after is not None:
        page = remote.deliveries(shortlist, after, limit=1000)
        found += [item["delivery"] for item in page["items"]]
        after = page["next"]
    return found
