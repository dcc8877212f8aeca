"""How much is generated, what runs where and when, and the one Spark session that tests share."""

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

COMMON = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("default", max_examples=20, **COMMON)
settings.register_profile("soak", max_examples=10_000, **COMMON)
settings.load_profile(os.environ.get("SHORTLIST_HYPOTHESIS", "default"))

FIRST = (
    *(f"tests/{name}/" for name in ("spark", "faults", "docs", "service")),
    "tests/test_cli.py",
    *(f"tests/{name}/" for name in ("cli", "log", "sites", "client", "benchmarks")),
)
"""What starts first: it is long, or waits for what it has started, and that best beside Spark. What
computes all the time comes behind it, the shortest at the end."""
ON_SPARK = ("tests/spark/", "tests/examples/test_show.py")
"""Tests of one session, with those whose names end in `spark]`: to start another one, and the
first job on it, takes longer than ten jobs on one that is there."""
JVM_OF_THEIR_OWN = (
    "tests/spark/test_java.py::test_spark_runs_on_the_bundled_java",
    "tests/spark/test_session.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: _rank(item.nodeid))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is imported and found stays: Python's garbage collector need not go through it."""
    gc.disable()
    result = yield
    gc.freeze()
    gc.enable()
    return result


def _shares_a_session(nodeid: str) -> bool:
    is_here = nodeid.startswith(ON_SPARK) and not nodeid.startswith(JVM_OF_THEIR_OWN)
    return is_here or nodeid.endswith("spark]")


def _rank(nodeid: str) -> int:
    if _shares_a_session(nodeid):
        return -1
    return next((at for at, start in enumerate(FIRST) if nodeid.startswith(start)), len(FIRST))


class Scheduling(LoadFileScheduling):
    """Each file in one process; those that share a Spark session together, pages one by one."""

    def _split_scope(self, nodeid: str) -> str:
        if _shares_a_session(nodeid):
            return "spark"
        return nodeid if nodeid.startswith("tests/docs/") else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Scheduling:
    config.option.loadscopereorder = False
    return Scheduling(config, log)


@pytest.fixture(scope="session")
def spark():
    """Started by the first test that asks; a test process has at most one."""
    from shortlist.spark.session import local_session

    session = local_session("shortlist-tests", cores=2)
    # To write, compile and warm up Java for a query takes longer than such small inputs without it.
    session.conf.set("spark.sql.codegen.wholeStage", "false")
    yield session
    session.stop()
