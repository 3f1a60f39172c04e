"""The first page, signing in and out, notes and assets, as the server finds them."""

from __future__ import annotations

from discreet.server.feature import Feature
from discreet.server.features.frame import pages

FEATURE = Feature((pages.router,), set_up=pages.set_up)
