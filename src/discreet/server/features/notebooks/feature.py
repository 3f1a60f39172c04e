"""Notebooks, as the server finds them."""

from __future__ import annotations

from discreet.server.feature import Feature
from discreet.server.features.notebooks import exports, pages, routes

FEATURE = Feature((routes.router, exports.router, pages.router))
