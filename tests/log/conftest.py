"""Each log in turn, empty, by its address."""

from itertools import count

import pytest

from scripts.nats_server import NatsServer
from shortlist.log.opening import open_log

NUMBERS = count(1)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The NATS server that tests share; those that end a server start one of their own."""
    with NatsServer(tmp_path_factory.mktemp("nats")) as server:
        yield server


@pytest.fixture(params=["sqlite", "nats"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:{tmp_path / 'log'}"
    return f"{request.getfixturevalue('server').url}/test-{next(NUMBERS)}"


@pytest.fixture
def log(url):
    log = open_log(url)
    yield log
    log.close()
