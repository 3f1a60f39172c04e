"""create_app(): the whole server as one ASGI application; its health and metrics endpoints."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse
from starlette.concurrency import run_in_threadpool
from starlette.routing import Mount

from discreet import __version__
from discreet.errors import InternalError
from discreet.server.access import sign_in
from discreet.server.access.auth import (
    API,
    GuardedRoute,
    add_routes,
    all_routes,
    allow,
    api_router,
    everybody,
    maybe_caller,
)
from discreet.server.access.limits import BodyLimit
from discreet.server.access.sign_in import SignInByAddress
from discreet.server.access.tokens import Role
from discreet.server.context import Context, context_of
from discreet.server.feature import features, larger_bodies, limited_features, warm_modules
from discreet.server.logs import RequestLog
from discreet.server.problems import SecurityHeaders, add_problems
from discreet.server.settings import Settings
from discreet.server.workspace import CatalogState

health_router = api_router("health")


@health_router.get("/health")
@everybody
async def health(request: Request) -> dict[str, Any]:
    """Say that the server lives, whether the latest discreet.toml is in force, and what takes nothing just now.

    An owner reads why the catalog is not in force or the ledger cannot be used; why a capability is
    closed is for everybody.
    """
    context, who = context_of(request), maybe_caller(request)
    workspace, refused = context.workspace, context.watch.refused
    state, problem = workspace.state, workspace.problem or refused
    said: dict[str, Any] = {
        "status": "ok" if state is CatalogState.IN_FORCE else "closed",
        "version": __version__,
        "catalog": state.value,
    }
    limited = await run_in_threadpool(limited_features, request)
    if refused is not None:
        limited["ledger"] = "The ledger cannot be used, so nothing that costs budget is answered."
    if limited:
        said["limited"] = limited
        if state is CatalogState.IN_FORCE:
            said["status"] = "limited"
    if problem is not None and who is not None and who.role is Role.OWNER:
        said["problem"] = str(problem)
    return said


@health_router.get("/metrics", response_class=PlainTextResponse)
@allow(Role.OWNER, Role.REVIEWER)
def metrics(request: Request) -> PlainTextResponse:
    """Return counters in Prometheus' text form, and how much of each budget is used."""
    context = context_of(request)
    waiting, running = context.runner.load
    used = context.watch.look()
    return PlainTextResponse(context.metrics.text(waiting=waiting, running=running, budgets=used))


OWN_ROUTERS = (sign_in.token_router, sign_in.audit_router, health_router)
"""What every server has, whatever its features."""


def create_app(settings: Settings) -> FastAPI:
    """Return the application; its curator, ledger and engine open now and close with it."""
    context = Context.open(settings, warm=warm_modules())
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
    from discreet.server.pgwire.server import serve_pg

    return await serve_pg(context)


def _refuse_unguarded(app: FastAPI) -> None:
    """Let no route live that does not say who may call it."""
    for route in all_routes(app.routes):
        guarded = isinstance(route, GuardedRoute | Mount)
        if not guarded and getattr(route, "path", "") != app.openapi_url:
            raise InternalError(f"{route} is not guarded")


def _one_route(written: str) -> re.Pattern[str]:
    """Return what the addresses of one route look like: a name has no stroke in it."""
    return re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(written)))


def _add_layers(app: FastAPI, context: Context) -> None:
    """Wrap the application; the layer added last is the outermost."""
    settings = context.settings

    usual = settings.max_body_kb << 10

    def limit_of(path: str) -> int:
        return next((size for route, size in larger if route.fullmatch(path)), usual)

    larger = [(_one_route(route), size) for route, size in larger_bodies(settings).items()]
    app.add_middleware(SignInByAddress, context=context)
    app.add_middleware(BodyLimit, limit_of=limit_of, bodies=context.bodies)
    app.add_middleware(SecurityHeaders, tls=settings.tls)
    app.add_middleware(RequestLog, metrics=context.metrics)
