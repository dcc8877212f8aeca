"""A log for each test that asks for one."""

import pytest

from shortlist.log.opening import open_log


@pytest.fixture
def url(tmp_path):
    return f"sqlite:{tmp_path}/city.log"


@pytest.fixture
def log(url):
    opened = open_log(url)
    yield opened
    opened.close()
