"""How much is generated, and the one Spark session that tests share."""

import os

import pytest
from hypothesis import HealthCheck, settings

COMMON = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("default", max_examples=30, **COMMON)
settings.register_profile("soak", max_examples=10_000, **COMMON)
settings.load_profile(os.environ.get("SHORTLIST_HYPOTHESIS", "default"))


@pytest.fixture(scope="session")
def spark():
    """Started by the first test that asks; a test process has at most one."""
    from shortlist.spark.session import local_session

    session = local_session("shortlist-tests", cores=2)
    yield session
    session.stop()
