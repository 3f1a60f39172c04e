"""What epsilon means, in pictures, as the server finds it."""

from __future__ import annotations

from discreet.server.feature import EVERYBODY, Feature, Place
from discreet.server.features.course import pages

FEATURE = Feature((pages.router,), places=(Place("Learn", "/learn", 100, EVERYBODY),))
