"""What `check` says of digests, quiet hours and caps, field by field."""

import pytest

from shortlist.intake.documents import POLICY, Documents
from shortlist.intake.yaml_text import parse_yaml
from shortlist.model.policy import Quiet
from shortlist.model.policy_changes import outcome

DIGEST = {"kind": "digest", "every": "day"}
QUIET = {"kind": "quiet", "from": "22:00", "to": "07:00"}
CAP = {"kind": "cap", "most": 20, "per": "day"}
MOMENT = "expected a time from '00:00' to '23:59'"
ZONE = "expected a zone of the tz database such as 'Europe/Oslo'"
EVERY = "expected 'day', 'week' or a duration above zero such as 12h"
WEEKDAYS = "'mon', 'tue', 'wed', 'thu', 'fri', 'sat' or 'sun'"
DAYS = "expected a list of days, at least one of mon, tue, wed, thu, fri, sat, sun"
NONE_BESIDE = "expected none, since every is a duration and not day or week"

PROBLEMS = [
    (DIGEST, {"k": 0}, "k: expected a whole number of at least 1, found 0"),
    (DIGEST, {"k": "5"}, "k: expected a whole number of at least 1, found '5'"),
    (DIGEST, {"every": "month"}, f"every: {EVERY}, found 'month'"),
    (DIGEST, {"every": 7}, f"every: {EVERY}, found 7"),
    (DIGEST, {"every": "0s"}, f"every: {EVERY}, found '0s'"),
    (DIGEST, {"at": "24:00"}, f"at: {MOMENT}, found '24:00'"),
    (DIGEST, {"at": "6:00"}, f"at: {MOMENT}, found '6:00'"),
    (DIGEST, {"at": "18:00:00"}, f"at: {MOMENT}, found '18:00:00'"),
    (DIGEST, {"at": 18}, f"at: {MOMENT}, found 18"),
    (DIGEST, {"zone": "Oslo"}, f"zone: {ZONE}, found 'Oslo'"),
    (DIGEST, {"zone": "../zones"}, f"zone: {ZONE}, found '../zones'"),
    (DIGEST, {"zone": 1}, f"zone: {ZONE}, found 1"),
    (DIGEST, {"on": "fri"}, "on: expected none, since every is not week, found 'fri'"),
    (DIGEST, {"every": "week", "on": "friday"}, f"on: expected {WEEKDAYS}, found 'friday'"),
    (DIGEST, {"every": "12h", "at": "18:00"}, f"at: {NONE_BESIDE}, found '18:00'"),
    (DIGEST, {"every": "12h", "zone": "UTC"}, f"zone: {NONE_BESIDE}, found 'UTC'"),
    (DIGEST, {"evry": "day"}, "evry: is not a field that is known here; did you mean every?"),
    (QUIET, {"from": "7"}, f"from: {MOMENT}, found '7'"),
    (QUIET, {"to": None}, "to: is missing"),
    (
        QUIET,
        {"to": "22:00"},
        "to: expected another time than '22:00', at which quiet hours begin, found '22:00'",
    ),
    (QUIET, {"days": []}, f"days: {DAYS}, found []"),
    (QUIET, {"days": "mon"}, f"days: {DAYS}, found 'mon'"),
    (QUIET, {"days": ["mon", "someday"]}, f"days: {DAYS}, found ['mon', 'someday']"),
    (QUIET, {"form": "1"}, "form: is not a field that is known here; did you mean from?"),
    (CAP, {"most": 0}, "most: expected a whole number of at least 1, found 0"),
    (CAP, {"most": None}, "most: is missing"),
    (CAP, {"per": None}, "per: is missing"),
    (
        CAP,
        {"per": "1h", "at": "18:00"},
        "at: expected none, since per is a duration and not day or week, found '18:00'",
    ),
]


@pytest.mark.parametrize(("policy", "changes", "problem"), PROBLEMS)
def test_problems(policy, changes, problem):
    documents = Documents()
    documents.read("subscription", {"id": "s", "policy": policy | changes})
    assert [*map(str, documents.problems)] == [f"subscription 's': policy.{problem}"]


def test_policies_are_read_as_they_are_written():
    """And say what they leave out."""
    text = "{kind: digest, k: 5, every: week, on: fri, at: 18:00, zone: Europe/Oslo}"
    read = POLICY.validate_python(parse_yaml(text))
    assert (read.on, read.at) == ("fri", "18:00")
    for policy in (DIGEST, QUIET, CAP, {**DIGEST, "every": "90m"}, {**CAP, "per": "week"}):
        made = POLICY.validate_python(policy)
        assert POLICY.validate_python(POLICY.dump_python(made, mode="json")) == made
    short = POLICY.validate_python(DIGEST)
    assert short == POLICY.validate_python({**DIGEST, "at": "00:00", "zone": "UTC"})
    assert POLICY.validate_python({**QUIET, "days": ["sun", "mon", "sun"]}).days == ("mon", "sun")
    assert Quiet(from_="22:00", to="07:00") == POLICY.validate_python(QUIET)


@pytest.mark.parametrize(
    ("policy", "changes", "what"),
    [
        (DIGEST, {"k": 5}, "keeps what it holds"),
        ({**DIGEST, "k": 2}, {"k": 9}, "keeps what it holds"),
        ({**DIGEST, "k": 2}, {"k": None}, "keeps what it holds"),
        (DIGEST, {"at": "00:00"}, "keeps what it holds"),
        (DIGEST, {"at": "18:00"}, "starts over: at changes"),
        (DIGEST, {"every": "1d"}, "starts over: every changes"),
        (DIGEST, {"zone": "Europe/Oslo"}, "starts over: zone changes"),
        (QUIET, {"from": "21:00", "to": "08:00", "days": ["mon"], "k": 1}, "keeps what it holds"),
        (QUIET, {"zone": "Europe/Oslo"}, "starts over: zone changes"),
        (CAP, {"most": 30}, "keeps what it holds"),
        (CAP, {"per": "week"}, "starts over: per changes"),
    ],
)
def test_changes(policy, changes, what):
    assert outcome(POLICY.validate_python(policy), POLICY.validate_python(policy | changes)) == what
