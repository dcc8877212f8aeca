from tests.service.servers import client, deployment, url  # noqa: F401 (fixtures)
