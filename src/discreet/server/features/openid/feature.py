"""Signing in by OpenID Connect, as the server finds it."""

from __future__ import annotations

from discreet.server.feature import Feature
from discreet.server.features.openid import pages

FEATURE = Feature((pages.router,), set_up=pages.set_up)
