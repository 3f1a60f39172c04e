"""Health and metrics endpoints."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from fastapi.responses import PlainTextResponse
from starlette.concurrency import run_in_threadpool

from discreet import __version__
from discreet.server.access.auth import allow, api_router, everybody, maybe_caller
from discreet.server.access.tokens import Role
from discreet.server.context import context_of
from discreet.server.feature import limited_features
from discreet.server.workspace import CatalogState

router = api_router("health")


@router.get("/health")
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


@router.get("/metrics", response_class=PlainTextResponse)
@allow(Role.OWNER, Role.REVIEWER)
def metrics(request: Request) -> PlainTextResponse:
    """Return counters in Prometheus' text form, and how much of each budget is used."""
    context = context_of(request)
    waiting, running = context.runner.load
    used = context.watch.look()
    return PlainTextResponse(context.metrics.text(waiting=waiting, running=running, budgets=used))
