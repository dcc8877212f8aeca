"""Progress is for people who look: on a terminal, and gone afterwards."""

import io
import time
from pathlib import Path

from rich.console import Console

from shortlist.progress import POLL_SECONDS, Steps


def test_a_terminal_shows_how_far_the_tasks_are():
    shown = io.StringIO()
    steps = Steps(Console(file=shown, force_terminal=True, width=80))
    with steps.step("Reading"):
        pass
    with steps.counted("Selecting", 10) as folder:
        Path(folder, "0").write_text("3")
        Path(folder, "1").write_text("4")
        until = time.monotonic() + 200 * POLL_SECONDS
        while " 7/10" not in shown.getvalue() and time.monotonic() < until:
            time.sleep(POLL_SECONDS)
    assert "Reading" in shown.getvalue()
    assert " 7/10" in shown.getvalue()
    assert not Path(folder).exists()


def test_a_pipe_shows_nothing():
    shown = io.StringIO()
    steps = Steps(Console(file=shown))
    with steps.step("Reading"), steps.counted("Selecting", 10) as folder:
        assert folder is None
    assert shown.getvalue() == ""
