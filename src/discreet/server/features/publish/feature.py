"""Releases, as the server finds them."""

from __future__ import annotations

from discreet.server.access.tokens import Role
from discreet.server.feature import Feature, Place
from discreet.server.features.publish import pages, routes

FEATURE = Feature(
    (routes.router, pages.router),
    places=(Place("Publish", "/publish", 20, frozenset({Role.OWNER, Role.REVIEWER})),),
)
