"""Which kernels a process calls, and with which types.

python -m tests.live.kernel_calls rehearse matching top-k
python -m tests.live.kernel_calls deploy top-k 3
"""

import gc
import json
import sys

from shortlist.intake.files import registry_from_documents
from shortlist.live.rehearsal import rehearse
from shortlist.matching.kernels.compiling import Kernel
from shortlist.model.settings import Settings
from tests import strategies
from tests.live.deployments import Deployment, numbered
from tests.strategies import SECOND, cuts, registry, seeded, timeline

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
            Settings(lateness=pick([None, 0, SECOND])),
            shards=pick([1, 2]),
            with_departures=pick([False, True]),
        )
        deployment.run_all(pick, cuts(pick, numbered(timeline(pick, 40))))


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
    print(json.dumps(sorted(called())))


if __name__ == "__main__":
    main(*sys.argv[1:])
