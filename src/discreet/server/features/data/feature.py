"""An owner's data, as the server finds it."""

from __future__ import annotations

from discreet.server.feature import OWNERS, Feature, Place
from discreet.server.features.data import bounds_routes, manage_routes, pages, routes

FEATURE = Feature(
    (routes.router, manage_routes.router, bounds_routes.router, pages.router),
    places=(Place("Data", "/data", 80, OWNERS),),
    set_up=routes.set_up,
)
