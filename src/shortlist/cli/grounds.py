"""Where jobs run, by what `--on` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shortlist.cli.app import Place

if TYPE_CHECKING:
    from shortlist.jobs.job import Ground


def ground_of(on: Place, master: str | None = None) -> Ground:
    """Only what is asked for is imported."""
    if on == "process":
        from shortlist.jobs.process import InProcess

        return InProcess()
    from shortlist.spark.job import OnSpark

    return OnSpark(master)
