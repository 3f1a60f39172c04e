"""Anonymized copies, as the server finds them."""

from __future__ import annotations

from discreet.server.feature import Feature
from discreet.server.features.anonymize import pages, routes

FEATURE = Feature((routes.router, pages.router))
