"""What a replay takes over from the deployment on its log."""

import json

from shortlist.engine.quarantine import PREFIX
from shortlist.live.replaying import _rejected_for
from shortlist.log.base import REJECTS
from shortlist.log.sqlite import SqliteLog


def test_only_reasons_that_are_taken_over_are_kept(tmp_path):
    log = SqliteLog(tmp_path / "city.log")
    reasons = ["late", f"{PREFIX}division by zero", "id: expected at most 2 characters, found 3"]
    rejects = [
        {"position": str(position), "reason": reason, "line": ""}
        for position, reason in enumerate([reasons[2], *reasons, "duplicate"], start=10)
    ]
    log.append(REJECTS, [json.dumps(each).encode() for each in rejects])
    # the first one stands in the log that the deployment came from
    assert _rejected_for(log, base=10) == ({2: "division by zero"}, {3: reasons[2]})
