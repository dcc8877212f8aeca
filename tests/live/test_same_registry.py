"""A deployment that goes on is given the registry that it has."""

import pytest

from shortlist.intake.files import registry_from_documents
from shortlist.live import same_registry
from shortlist.live.driver import begin
from shortlist.live.files import Files
from shortlist.live.registers import committed
from shortlist.live.same_registry import OtherRegistry, check_registry
from shortlist.log.sqlite import SqliteLog

NOUNS = [{"id": "a", "where": "rent < 900"}, {"id": "b", "refresh": "90m"}]


def registry_of(*subscriptions):
    return registry_from_documents(
        {"vocabulary": {"rent": {"type": "number"}}, "subscriptions": subscriptions}
    )


@pytest.fixture
def deployment(tmp_path):
    log, files = SqliteLog(tmp_path / "city.log"), Files(tmp_path / "files")
    begin(log, files, registry_of(*NOUNS), 2)
    return committed(log)[1], files


def test_the_registry_of_the_start_is_known_by_its_bytes(deployment, monkeypatch):
    monkeypatch.setattr(
        same_registry, "registry_read_again", lambda document: pytest.fail("read again")
    )
    check_registry(registry_of(*NOUNS), *deployment)


def test_in_another_order_it_is_the_same(deployment):
    check_registry(registry_of(*reversed(NOUNS)), *deployment)


def test_another_one_is_refused(deployment):
    with pytest.raises(OtherRegistry, match="subscription b differs, subscription c is not in"):
        check_registry(registry_of(NOUNS[0], {"id": "b"}, {"id": "c"}), *deployment)
