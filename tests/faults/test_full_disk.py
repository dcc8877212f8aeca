"""A deployment whose state is on a small disk that somebody else fills."""

import subprocess

import pytest

from tests.faults.processes import wait_until
from tests.faults.stories import Story, fault_seed

pytestmark = [pytest.mark.soak, pytest.mark.spark]


@pytest.fixture
def small_disk(tmp_path):
    """Where the story's state goes."""
    place = tmp_path / "state"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a file system")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(file):
    with file.open("wb", buffering=0) as ballast:
        try:
            while True:
                ballast.write(bytes(4096))
        except OSError:
            return


def test_it_says_so_and_goes_on_when_there_is_room_again(small_disk, tmp_path):
    with Story(tmp_path, fault_seed()) as story:
        story.wait_for_commit()
        fill(small_disk / "ballast")
        logs = tmp_path / "logs.jsonl"
        wait_until(
            lambda: "No space left on device" in logs.read_text(), "a full disk", story.last_words
        )
        (small_disk / "ballast").unlink()
        story.wait_for_commit()
        outcome = story.end()
    assert outcome.verdict.faults == 0, outcome
    assert outcome.verdict.deliveries > 0, outcome
