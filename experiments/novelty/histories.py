"""Three histories of deliveries, which theorems are tried on."""

from __future__ import annotations

from experiments.novelty.shortlists import Got, deliver, policy
from experiments.novelty.streams import length, zipf_stream
from shortlist.experiments.run import Run

POLICIES = {
    "threshold by rate": policy(),
    "threshold by interval": policy(measure="interval"),
    "random": policy(algorithm="random"),
}


def histories(run: Run) -> dict[str, Got]:
    """What lazy thresholds and a random choice deliver."""
    return deliver(run, zipf_stream(run, "zipf", length(run)), POLICIES)
