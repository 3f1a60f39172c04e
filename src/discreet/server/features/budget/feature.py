"""Budgets and history, as the server finds them."""

from __future__ import annotations

from discreet.server.access.tokens import Role
from discreet.server.feature import Feature, Place
from discreet.server.features.budget import pages, routes

FEATURE = Feature(
    (routes.router, pages.router), places=(Place("Budget", "/budget", 90, frozenset(Role)),)
)
