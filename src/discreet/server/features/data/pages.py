"""The Data page: what can be asked, and the review through which more comes in."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from discreet.server.access.audit import MOST_READ
from discreet.server.access.auth import GuardedRoute, allow
from discreet.server.access.tokens import Role
from discreet.server.context import context_of
from discreet.server.feature import OWNERS, Feature, Place
from discreet.server.features.budget import routes as budget_api
from discreet.server.features.budget.views import audit_view, limits_view
from discreet.server.features.data import bounds_routes, manage_routes, routes, share_routes
from discreet.server.features.query import catalog_routes as catalog_api
from discreet.server.rendering import page
from discreet.server.views import datasets_view

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature(
    (
        routes.router,
        share_routes.router,
        manage_routes.router,
        bounds_routes.router,
        router,
    ),
    places=(Place("Data", "/data", 80, OWNERS),),
    set_up=routes.set_up,
)


@router.get("/data")
@allow(Role.OWNER)
def data(request: Request) -> Response:
    """Show what can be asked, and the review through which more comes in."""
    catalog = catalog_api.catalog(request)
    return page(
        request,
        "data.html",
        "Data",
        datasets=datasets_view(catalog),
        unfinished=catalog["unfinished"],
        warnings=catalog["warnings"],
        analysts=catalog["analysts"],
        limits_of=limits_view(budget_api.budget(request)),
        bounded=_bounded(request),
        plain=lambda value: f"{value:.12g}",
        log=audit_view(context_of(request).access.audit.last(MOST_READ)),
        max_upload_mb=context_of(request).settings.max_upload_mb,
    )


def _bounded(request: Request) -> list[str]:
    """Return the tables of people, as dataset.table: those of which a bound may leave rows out."""
    with context_of(request).workspace.curator() as curator:
        return [
            f"{dataset.name}.{table.name}"
            for dataset in curator.catalog.datasets.values()
            for table in dataset.tables
            if table.unit is not None and not table.unit.is_row
        ]
