"""The attack lab, as the server finds it."""

from __future__ import annotations

from discreet.server.feature import Feature, Place
from discreet.server.features.lab import pages, routes

FEATURE = Feature(
    (routes.router, pages.router),
    places=(Place("Teach & attack", "/lab", 60),),
    set_up=routes.set_up,
)
