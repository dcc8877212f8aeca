"""Equal parts of entries are one object, and what only looks equal is not."""

import json

import pytest

from shortlist.intake.files import read_registry, registry_from_documents
from shortlist.model.policy import TopK
from shortlist.model.problem import InvalidRegistry

TOP = {"kind": "top-k", "k": 1, "refresh": "1h"}


def entry(number, **fields):
    return {"id": f"s{number}", "policy": TOP, "score": "rating / 10", **fields}


def test_what_entries_have_in_common_is_kept_once(tmp_path):
    entries = [entry(number, subscriber="anna", combine="mean") for number in range(50)]
    entries += [{"id": f"m{number}", "shortlist": "s0", "norm": "product"} for number in range(50)]
    file = tmp_path / "subscriptions.jsonl"
    file.write_text("\n".join(json.dumps(made) for made in entries))
    subscriptions = read_registry(tmp_path).subscriptions
    assert subscriptions == registry_from_documents({"subscriptions": entries}).subscriptions
    for field in ("policy", "score", "subscriber", "combine", "shortlist", "norm", "at_least"):
        values = [getattr(made, field) for made in subscriptions]
        assert len({id(value) for value in values}) == len(set(values)), field


def test_shortlists_share_policies_too():
    shortlists = [{"id": str(number), "subscriber": "x", "policy": dict(TOP)} for number in (1, 2)]
    one, other = registry_from_documents({"shortlists": shortlists}).shortlists
    assert one.policy is other.policy
    assert one.policy == TopK(k=1, refresh=3_600_000_000)


@pytest.mark.parametrize("k", [True, 1.0, "1", 0])
def test_equal_is_not_alike(k):
    good, bad = entry(1), entry(2, policy={**TOP, "k": k})
    with pytest.raises(InvalidRegistry) as invalid:
        registry_from_documents({"subscriptions": [good, bad, entry(3, policy={**TOP, "k": 2})]})
    assert str(invalid.value) == (
        "registry: subscription 's2': policy.k: expected a whole number of at least 1, "
        f"found {'true' if k is True else repr(k)}"
    )


def test_documents_are_left_as_they_are():
    document = {"subscriptions": [entry(1), entry(2)]}
    before = json.dumps(document)
    registry_from_documents(document)
    assert json.dumps(document) == before
