"""Which kernels a process calls, and with which types.

python -m tests.live.kernel_calls rehearse matching top-k
python -m tests.live.kernel_calls deploy top-k 3
"""

import gc
import json
import sys
from pathlib import Path

from numba.core import event

from shortlist.intake.files import registry_from_documents
from shortlist.live.lanes import ProcessGround
from shortlist.live.rehearsal import rehearse
from shortlist.live.running import Running, Wanted
from shortlist.log.base import INPUT
from shortlist.matching.kernels.compiling import Kernel
from shortlist.model.settings import Settings
from tests import strategies
from tests.live.deployments import Deployment, numbered
from tests.strategies import cuts, registry, seeded, timeline

# A registry with these policies, and without fuzzy conditions or fuzzy values.
KINDS = {
    "top-k": strategies.TOP_K_POLICIES,
    "window": strategies.WINDOW_POLICIES,
    "novelty": strategies.NOVELTY_POLICIES,
    "fresh": strategies.FRESH_POLICIES,
    "diverse": strategies.DIVERSE_POLICIES,
    "digest": [each for each in strategies.PEOPLE_POLICIES if each["kind"] == "digest"],
    "quiet": [each for each in strategies.PEOPLE_POLICIES if each["kind"] == "quiet"],
    "cap": [each for each in strategies.PEOPLE_POLICIES if each["kind"] == "cap"],
}


def deploy(policies, count):
    """Run drawn deployments whose policies, here and in commands, are some of these."""
    strategies.POLICIES[:] = [policies]
    for seed in range(count):
        pick = seeded(seed)
        made = registry_from_documents(registry(pick))
        deployment = Deployment(
            made,
            Settings(lateness=pick([None, "0s", "1s"])),
            shards=pick([1, 2]),
            with_departures=pick([False, True]),
        )
        deployment.run_all(pick, cuts(pick, numbered(timeline(pick, 40))))


class Recorder(event.Listener):
    """Writes each kernel that this process, or one that is forked from it, compiles to a file."""

    def __init__(self, file):
        self.file = file

    def on_start(self, event):
        name = event.data["dispatcher"].py_func.__qualname__
        with self.file.open("a") as file:
            print(name, file=file)

    def on_end(self, event): ...


class Publisher:
    """Once a deployment has started it publishes a few lines, and stops it when all came out."""

    def __init__(self, recorder):
        self.file, self.before, self.compiled = recorder.file, [], []
        self.running = None

    def compiling(self, left): ...

    def started(self, driver, log):
        self.before = self.file.read_text().splitlines()
        lines = [
            {"id": f"p{n}", "source": "s", "data": {"price": n, "size": 7, "title": "red"}}
            for n in range(9)
        ]
        log.append(INPUT, [json.dumps(line).encode() for line in lines])

    def ran(self, report, driver, log, appended):
        if driver.manifest.counts.get("published") == 9:
            self.running.stop()

    def failed(self, error, pause): ...

    def stopped(self):
        self.compiled = self.file.read_text().splitlines()[len(self.before) :]


def run(kind, folder):
    """Run a deployment in processes; return what was compiled after it was ready."""
    recorder = Recorder(folder / "compiled")
    recorder.file.touch()
    event.register("numba:compile", recorder)
    ground = ProcessGround(2)
    ground.start()
    policies = KINDS[kind]
    subscriptions = [
        {"id": f"s{n}", "where": "price > 0", "score": "price", "policy": policies[n]}
        for n in range(3)
    ]
    wanted = Wanted(
        log=f"sqlite:{folder / 'log'}",
        folder=folder / "state",
        registry=registry_from_documents({"subscriptions": subscriptions}),
        settings=Settings(time="arrival", lateness=0),
    )
    publisher = Publisher(recorder)
    publisher.running = Running(wanted, ground, publisher)
    publisher.running.run()
    return publisher.compiled


def called():
    """Return each kernel of this process that was called, with the types of each call."""
    found = set()
    for kernel in gc.get_objects():
        if isinstance(kernel, Kernel):
            function = kernel.py_func
            held = [cell.cell_contents for cell in function.__closure__ or ()]
            name = f"{function.__module__}.{function.__qualname__}{held or ''}"
            found |= {f"{name} {types}" for types in kernel.overloads}
    return found


def main(job, *arguments):
    match job:
        case "rehearse":
            for part in arguments:
                rehearse(part)
        case "deploy":
            kind, count = arguments
            strategies.PREDICATES[:] = strategies.CRISP
            for name in ("price", "size", "mood"):
                values = strategies.VALUES[name]
                values[:] = [each for each in values if not isinstance(each, dict)]
            deploy(KINDS[kind], int(count))
        case "deploy-all":
            chains = [each for kind in strategies.POLICIES for each in kind]
            deploy(chains, int(arguments[0]))
        case "run":
            print(json.dumps(run(arguments[0], Path(arguments[1]))))
            return
    print(json.dumps(sorted(called())))


if __name__ == "__main__":
    main(*sys.argv[1:])
