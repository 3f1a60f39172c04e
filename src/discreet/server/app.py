"""create_app(): the whole server as one ASGI application."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.routing import Mount

from discreet import __version__
from discreet.errors import InternalError
from discreet.server.access import audit_routes as audit
from discreet.server.access import token_routes as tokens
from discreet.server.access.auth import API, GuardedRoute, add_routes, all_routes
from discreet.server.access.headers import SecurityHeaders
from discreet.server.access.limits import BodyLimit
from discreet.server.access.sign_in import SignInByAddress
from discreet.server.context import Context
from discreet.server.feature import features
from discreet.server.logs import RequestLog
from discreet.server.problems import add_problems
from discreet.server.settings import Settings
from discreet.server.watch import health

UPLOADS = f"{API}/data/uploads"
OWN_FILES = f"{API}/lab/{{name}}/own"
ENVELOPE = 64 << 10
"""Bytes that a multipart form may add to its file."""
REVIEW = 8 << 20
"""Bytes of a review, which may list long categories."""
REPORTS_TO = (f"{API}/surveys/{{name}}/reports", f"{API}/surveys/{{name}}/reports/batch")
REPORTS = 64 << 20
"""Bytes to a survey's collector, which has limits of its own and counts what goes beyond them."""

OWN_ROUTERS = (tokens.router, audit.router, health.router)
"""What every server has, whatever its features."""


def create_app(settings: Settings) -> FastAPI:
    """Return the application; its curator, ledger and engine open now and close with it."""
    context = Context.open(settings)
    try:
        return _built(context)
    except BaseException:
        context.close()
        raise


def _built(context: Context) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        postgres = await _postgres(context)
        watching = asyncio.create_task(context.watch.watch())
        try:
            yield
        finally:
            watching.cancel()
            if postgres is not None:
                postgres.close()
            context.close()

    app = FastAPI(
        title="Discreet",
        version=__version__,
        summary="Private answers about people's data.",
        docs_url=None,  # it would load scripts from elsewhere
        redoc_url=None,
        openapi_url=f"{API}/openapi.json",
        lifespan=lifespan,
    )
    app.state.context = context
    add_problems(app)
    for router in OWN_ROUTERS:
        add_routes(app, router)
    for feature in features():
        feature.add_to(app)
    _refuse_unguarded(app)
    _add_layers(app, context)
    return app


async def _postgres(context: Context) -> asyncio.Server | None:
    """Return the PostgreSQL endpoint, if one is wanted; it shares the queue and the limits."""
    if context.settings.pg_port is None:
        return None
    # Here, because its certificates and its own catalog take a second that most starts do not need.
    from discreet.server.pgwire import serve_pg

    return await serve_pg(context)


def _refuse_unguarded(app: FastAPI) -> None:
    """Let no route live that does not say who may call it."""
    for route in all_routes(app.routes):
        guarded = isinstance(route, GuardedRoute | Mount)
        if not guarded and getattr(route, "path", "") != app.openapi_url:
            raise InternalError(f"{route} is not guarded")


def larger_bodies(settings: Settings) -> list[tuple[str, int]]:
    """Return the routes that take more than others, and how many bytes.

    Each lets a caller pass, by role, before it reads a body; those of surveys count for themselves.
    """
    files = (settings.max_upload_mb << 20) + ENVELOPE
    return [
        (UPLOADS, files),
        (f"{UPLOADS}/{{id}}", REVIEW),
        (f"{UPLOADS}/{{id}}/{{part}}", REVIEW),
        (OWN_FILES, files),
        *((route, REPORTS) for route in REPORTS_TO),
    ]


def _one_route(written: str) -> re.Pattern[str]:
    """Return what the addresses of one route look like: a name has no stroke in it."""
    return re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(written)))


def _add_layers(app: FastAPI, context: Context) -> None:
    """Wrap the application; the layer added last is the outermost."""
    settings = context.settings

    usual = settings.max_body_kb << 10

    def limit_of(path: str) -> int:
        return next((size for route, size in larger if route.fullmatch(path)), usual)

    larger = [(_one_route(route), size) for route, size in larger_bodies(settings)]
    app.add_middleware(SignInByAddress, context=context)
    app.add_middleware(BodyLimit, limit_of=limit_of)
    app.add_middleware(SecurityHeaders, tls=settings.tls)
    app.add_middleware(RequestLog, metrics=context.metrics)
