"""The service keeps to its OpenAPI document, whatever is asked of it that the document allows."""

import subprocess
import sys
from pathlib import Path

import pytest

from shortlist.service.state import Options
from tests.service.servers import served

CHECKS = ",".join(
    [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
    ]
)
# a stream has no end that a caller could wait for
SETTINGS = ("--exclude-path-regex", "{name}/events$", "--suppress-health-check", "all")


def keeps_to_it(deployment, folder, *options):
    program = Path(sys.executable).with_name("schemathesis")
    settings = Options(heartbeat=0.2, patience=10, per_second=1e6)
    with served(deployment.log, settings) as url:
        done = subprocess.run(
            [program, "run", f"{url}/openapi.json", "--checks", CHECKS, *SETTINGS, *options],
            cwd=folder,  # where it leaves what it found
            capture_output=True,
            text=True,
            timeout=500,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-1000:]


def test_a_few_calls_of_each_route(deployment, tmp_path):
    keeps_to_it(deployment, tmp_path, "--phases", "fuzzing", "--max-examples", "1")


@pytest.mark.soak
def test_many_calls_of_each_route(deployment, tmp_path):
    keeps_to_it(deployment, tmp_path, "--phases", "coverage,fuzzing", "--max-examples", "50")
