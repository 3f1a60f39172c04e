"""Private models, as the server finds them."""

from __future__ import annotations

from discreet.server.feature import Feature, Place
from discreet.server.features.learn import pages, routes

FEATURE = Feature(
    (routes.router, pages.router),
    places=(Place("Models", "/models", 50),),
    set_up=routes.set_up,
)
