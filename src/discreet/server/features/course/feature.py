"""The course, as the server finds it."""

from __future__ import annotations

from discreet.server.feature import EVERYBODY, Feature, Place
from discreet.server.features.course import pages, routes

FEATURE = Feature(
    (routes.router, pages.router), places=(Place("Course", "/course", 70, EVERYBODY),)
)
