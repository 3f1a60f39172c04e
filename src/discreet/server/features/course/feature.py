"""The course, as the server finds it."""

from __future__ import annotations

from discreet.server.feature import EVERYBODY, Feature, Place
from discreet.server.features.course import class_routes, pages, routes

FEATURE = Feature(
    (routes.router, class_routes.router, pages.router),
    places=(Place("Course", "/course", 70, EVERYBODY),),
    set_up=routes.set_up,
)
