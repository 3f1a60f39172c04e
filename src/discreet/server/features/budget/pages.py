"""The Budget page: what is spent and left."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from discreet.server.access.auth import GuardedRoute, allow, maybe_caller
from discreet.server.access.tokens import Role
from discreet.server.context import context_of
from discreet.server.features.budget import routes as budget_api
from discreet.server.features.budget.noise import count_noises
from discreet.server.features.query import catalog_routes as catalog_api
from discreet.server.rendering import page
from discreet.server.views import budget_view, datasets_view

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)


@router.get("/budget")
@allow(Role.OWNER, Role.ANALYST, Role.REVIEWER)
def budget(request: Request) -> Response:
    """Show what is spent and left; needs no JavaScript."""
    entries = budget_api.history(request, last=1000)["entries"]
    catalog, who = catalog_api.catalog(request), maybe_caller(request)
    with context_of(request).workspace.curator() as curator:
        noise = count_noises(curator, datasets_view(catalog), who.analyst if who else None)
    purses = budget_view(budget_api.budget(request), catalog, entries, noise)
    can_ask = who is not None and who.role is not Role.REVIEWER
    return page(request, "budget.html", "Budget", datasets=purses, can_ask=can_ask)
