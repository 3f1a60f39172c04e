"""Synthetic copies, as the server finds them."""

from __future__ import annotations

from discreet.server.feature import Feature, Place
from discreet.server.features.synth import pages, routes

FEATURE = Feature(
    (routes.router, pages.router),
    places=(Place("Synthesize", "/synthesize", 30),),
)
