"""Which changes of a policy a shortlist survives with what it holds."""

import pytest

from shortlist.intake.documents import POLICY
from shortlist.model.policy_changes import kept_by, outcome

TOP_K = {"kind": "top-k", "k": 3}
WINDOW = {"kind": "window", "k": 3, "window": "1h"}
NOVELTY = {"kind": "novelty", "rate": 0.5, "period": 10}
DIVERSE = {"kind": "diverse", "k": 3, "window": None, "over": {"x": 1}}

KEPT = [
    (TOP_K, {}),
    (TOP_K, {"k": 1, "refresh": "1h", "period": "1d"}),
    (WINDOW, {"k": 2, "error": 0.1}),
    (NOVELTY, {}),
    (DIVERSE, {"k": 1}),
]
STARTS_OVER = [
    (TOP_K, {"k": 4}, "k grows from 3 to 4"),
    (WINDOW, {"window": "2h"}, "window changes"),
    (WINDOW, {"window": 3600}, "window changes"),
    (NOVELTY, {"rate": 0.4}, "rate changes"),
    (DIVERSE, {"over": {"x": 2}}, "over changes"),
    (DIVERSE, {"weight": 0.1}, "weight changes"),
]


def read(document):
    return POLICY.validate_python(document)


@pytest.mark.parametrize(("before", "changes"), KEPT)
def test_kept(before, changes):
    after = before | changes
    assert kept_by(read(before), read(after))
    assert kept_by(read([WINDOW, before]), read([WINDOW, after]))
    assert outcome(read(before), read(after)) == "keeps what it holds"


@pytest.mark.parametrize(("before", "changes", "why"), STARTS_OVER)
def test_started_over(before, changes, why):
    after = before | changes
    assert outcome(read(before), read(after)) == f"starts over: {why}"
    assert not kept_by(read([WINDOW, before]), read([WINDOW, after]))


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (TOP_K, WINDOW, "window is another kind of policy than top-k"),
        (TOP_K, [TOP_K], "the policies of its chain are others"),
        ([WINDOW, TOP_K], [WINDOW], "the policies of its chain are others"),
        ([WINDOW, TOP_K], [TOP_K, WINDOW], "top-k is another kind of policy than window"),
    ],
)
def test_other_kinds(before, after, why):
    assert outcome(read(before), read(after)) == f"starts over: {why}"
