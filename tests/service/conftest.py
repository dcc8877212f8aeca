import pytest

from tests.cli.programs import ARRIVAL, Deployment
from tests.service.servers import REGISTRY, caller, served


@pytest.fixture
def deployment(tmp_path):
    deployment = Deployment(tmp_path, REGISTRY, shards=1, settings=ARRIVAL)
    with deployment.running():
        yield deployment


@pytest.fixture
def url(deployment):
    with served(deployment.log) as url:
        yield url


@pytest.fixture
def client(url):
    with caller(url) as client:
        yield client
