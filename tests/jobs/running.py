"""Jobs for tests: what a ground writes, as bytes."""

from rich.console import Console

from shortlist.jobs.job import Job, Outputs
from shortlist.model.settings import Settings
from shortlist.progress import Steps

QUIET = Steps(Console(), quiet=True)


def ran(ground, folder, registry, source, settings=None, how=None, suffix=".jsonl", **more):
    """The report without its time, and every file that was written, by name."""
    folder.mkdir()
    outputs = Outputs(
        deliveries=folder / f"deliveries{suffix}",
        rejects=folder / "rejects.jsonl",
        explanations=None if how else folder / "explanations.jsonl",
        departures=folder / "departures.jsonl" if how else None,
    )
    job = Job(registry, source, outputs, settings or Settings(), QUIET, **more)
    report = job.run(ground, how)
    assert report.pop("seconds") >= 0
    files = {path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    return report, files
