"""Many publications at once are judged as one by one."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.engine.admission import Admission
from shortlist.engine.duplicates import Duplicates
from shortlist.engine.quarantine import Quarantined
from shortlist.intake.files import registry_from_documents
from shortlist.model.settings import Settings

PUBLICATIONS = st.lists(
    st.tuples(st.sampled_from("st"), st.sampled_from("pqrx"), st.integers(0, 4), st.booleans())
)


@given(span=st.sampled_from([1, 3, 100]), cuts=st.lists(PUBLICATIONS, max_size=5))
def test_in_bulk_as_one_by_one(span, cuts):
    bulk, single, time = Duplicates(span), Duplicates(span), 0
    for some in cuts:
        times = []
        for _, _, later, _ in some:
            time += later
            times.append(time)
        expected = []
        for (source, name, _, may), when in zip(some, times, strict=True):
            expected.append(single.is_repeated(source, name, when))
            if may and not expected[-1]:
                single.accept(source, name, when)
        sources, names = [each[0] for each in some], [each[1] for each in some]
        may = np.array([each[3] for each in some], np.bool_)
        assert bulk.repeated(sources, names, times, may).tolist() == expected
    assert bulk.remembered() == single.remembered()


@pytest.mark.parametrize("count", [0, 1])
def test_none_or_one(count):
    seen = Duplicates(5)
    for expected in (False, True):
        found = seen.repeated("s" * count, "p" * count, [0] * count, np.ones(count, np.bool_))
        assert found.tolist() == [expected] * count


def test_what_comes_again_and_is_refused_is_not_remembered():
    """The files of a driver do not tell of it, so its memory must not either."""
    settings = Settings(lateness=0, advertised="required")
    admission = Admission(registry_from_documents({"subscriptions": [{"id": "s"}]}), settings)
    time = "2026-03-01T09:00:00Z"
    line = json.dumps({"id": "f1", "source": "ads", "time": time, "data": {}})
    admission.quarantine[1] = Quarantined(1, 0, line, "it failed")
    retry = json.dumps({"time": time, "retry": 1}).encode()
    found = admission.admit(admission.reader().lines([2], [retry]), last=True)
    assert [refusal.why for refusal in found.refusals] == ["unadvertised"]
    assert not [*admission.duplicates.remembered()]
