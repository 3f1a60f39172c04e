"""The documentation, as the server finds it."""

from __future__ import annotations

from discreet.server.feature import Feature
from discreet.server.features.docs import pages

FEATURE = Feature((pages.router,))
