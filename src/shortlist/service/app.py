"""The application: routes over one log."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse
from starlette.middleware import Middleware
from starlette.staticfiles import StaticFiles

from shortlist.log.base import Log
from shortlist.service import (
    hooking,
    operating,
    publishing,
    receiving,
    registering,
    streaming,
)
from shortlist.service.measuring import Measured
from shortlist.service.middleware import BoundedBodies, Shortcut
from shortlist.service.problems import RESPONSES, add_handlers
from shortlist.service.state import Options, Service

PAGE = Path(__file__).parent / "page"
SAFE = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def create_app(log: Log, options: Options | None = None) -> FastAPI:
    """A service on a log, which stays open for as long as the service runs."""
    service = Service(log, options or Options())

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with service.running():
            yield

    app = FastAPI(
        title="Shortlist",
        version=version("shortlist"),
        description="Relevance-ranked publish/subscribe: everyone gets a shortlist.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        responses=RESPONSES,
        middleware=[
            Middleware(Measured, measures=service.measures),
            Middleware(BoundedBodies, most=service.options.limits.payload_bytes),
            Middleware(Shortcut, route=publishing.PUBLISH),
        ],
    )
    app.state.service = service
    add_handlers(app)
    # names may hold slashes: what is about one comes before the names themselves
    for module in (publishing, receiving, streaming, hooking, registering, operating):
        app.include_router(module.router)

    # static files need no key: everything that they show is asked for with one
    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(PAGE / "index.html", headers=SAFE)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> FileResponse:
        return FileResponse(PAGE / "docs.html", headers=SAFE)

    app.mount("/page", StaticFiles(directory=PAGE), name="page")
    return app
