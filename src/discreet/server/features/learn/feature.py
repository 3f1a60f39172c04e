"""Private models, as the server finds them."""

from __future__ import annotations

from fastapi import FastAPI

from discreet.server.feature import Feature, Place
from discreet.server.features.learn import choices, pages, recommenders, routes


def _set_up(app: FastAPI) -> None:
    routes.set_up(app)
    recommenders.set_up(app)


FEATURE = Feature(
    (routes.router, choices.router, recommenders.router, pages.router),
    places=(Place("Models", "/models", 50),),
    set_up=_set_up,
)
