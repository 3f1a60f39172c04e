"""Asking, as the server finds it."""

from __future__ import annotations

from discreet.server.feature import Feature, Place
from discreet.server.features.query import catalog_routes, job_routes, pages, routes

FEATURE = Feature(
    (routes.router, job_routes.router, catalog_routes.router, pages.router),
    places=(Place("Ask", "/ask", 10),),
)
