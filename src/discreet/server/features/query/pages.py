"""The Ask page: the editor, the catalog beside it, and a first question already written."""

from __future__ import annotations

import re

from fastapi import APIRouter, Request
from fastapi.responses import Response

from discreet.server.access.auth import GuardedRoute, allow
from discreet.server.access.tokens import Role
from discreet.server.feature import Feature, Place
from discreet.server.features.query import catalog_routes, job_routes, routes
from discreet.server.readable import readable_catalog
from discreet.server.rendering import page
from discreet.server.views import datasets_view, first_question

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature(
    (routes.router, job_routes.router, catalog_routes.router, router),
    places=(Place("Ask", "/ask", 10),),
)

START_EPSILON = "0.25"
_AMOUNT = re.compile(r"\d{0,6}\.?\d{1,12}(e-?\d{1,2})?")
"""An epsilon that an address may carry; the price is asked for before anything is spent."""
MAX_SQL = 20_000
"""Characters of a question that an address may carry."""


@router.get("/ask")
@allow(Role.OWNER, Role.ANALYST)
def ask(request: Request, sql: str = "", epsilon: str = "", analyst: str = "") -> Response:
    """Show the editor, the catalog beside it, and a first question already written."""
    catalog = readable_catalog(request)
    datasets = datasets_view(catalog)
    written = _AMOUNT.fullmatch(epsilon) is not None
    return page(
        request,
        "ask.html",
        "Ask",
        datasets=datasets,
        sql=sql[:MAX_SQL] or first_question(datasets),
        epsilon=epsilon if written else START_EPSILON,
        payer=analyst,
        analysts=catalog.get("analysts", []),
    )
