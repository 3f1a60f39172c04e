"""Private models, as the server finds them."""

from __future__ import annotations

from discreet.server.feature import Feature, Place
from discreet.server.features.learn import choices, pages, recommenders, routes

FEATURE = Feature(
    (routes.router, choices.router, recommenders.router, pages.router),
    places=(Place("Models", "/models", 50),),
)
