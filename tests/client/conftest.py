from tests.service.servers import deployment, url  # noqa: F401 (fixtures)
