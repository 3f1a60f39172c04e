"""Surveys, as the server finds them."""

from __future__ import annotations

from discreet.server.feature import Feature, Place
from discreet.server.features.survey import collector, pages, respondent, routes

FEATURE = Feature(
    (collector.router, routes.router, pages.router, respondent.router),
    places=(Place("Survey", "/surveys", 40),),
)
