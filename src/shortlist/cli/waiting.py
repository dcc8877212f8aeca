"""What a person sees while a deployment comes to what was sent."""

from collections.abc import Iterator
from contextlib import contextmanager

from shortlist.cli.app import notes


@contextmanager
def shown_waiting() -> Iterator[None]:
    with notes.status("Waiting for the deployment"):
        yield
