"""One feature's routes and navigation entries; features are found by folder."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from fastapi import APIRouter, FastAPI
from starlette.requests import HTTPConnection

from discreet.server import features as folder
from discreet.server.access.auth import add_routes
from discreet.server.access.tokens import Role
from discreet.server.settings import Settings

EVERYBODY = frozenset([*Role, None])
ASKERS = frozenset({Role.OWNER, Role.ANALYST})
OWNERS = frozenset({Role.OWNER})
ENVELOPE = 64 << 10
"""Bytes that a multipart form may add to its file."""


@dataclass(frozen=True, slots=True)
class Place:
    """One word in the line at the top of every page; lower numbers stand further left."""

    name: str
    path: str
    order: int
    roles: frozenset[Role | None] = ASKERS


@dataclass(frozen=True, slots=True)
class Feature:
    """A capability of the server: its routes, its places, and what it sets up once they are there.

    `larger` names the routes that take more bytes than others: each lets a caller pass, by role, before
    it reads a body, or counts for itself. `warm` are modules that its jobs need: a process that waits
    for one imports them meanwhile. `limited` says in a sentence for everybody why the capability is
    closed just now, or nothing.
    """

    routers: tuple[APIRouter, ...]
    places: tuple[Place, ...] = ()
    set_up: Callable[[FastAPI], None] | None = None
    larger: Callable[[Settings], Mapping[str, int]] = lambda _settings: {}
    warm: tuple[str, ...] = ()
    limited: Callable[[HTTPConnection], str] = lambda _connection: ""

    def add_to(self, app: FastAPI) -> None:
        """Add the routes to the application, and whatever they share."""
        for router in self.routers:
            add_routes(app, router)
        if self.set_up is not None:
            self.set_up(app)


@cache
def features() -> tuple[Feature, ...]:
    """Return the FEATURE in the pages of every folder of features/; adding one is adding a folder."""
    names = sorted(module.name for module in pkgutil.iter_modules(folder.__path__))
    return tuple(import_module(f"{folder.__name__}.{name}.pages").FEATURE for name in names)


def larger_bodies(settings: Settings) -> dict[str, int]:
    """Return the routes of all features that take more than others, and how many bytes."""
    return {route: size for each in features() for route, size in each.larger(settings).items()}


def warm_modules() -> tuple[str, ...]:
    """Return what a process imports while it waits for a job of any feature."""
    return tuple(dict.fromkeys(name for each in features() for name in each.warm))


def limited_features(connection: HTTPConnection) -> dict[str, str]:
    """Return the capabilities of this server that are closed just now, each with the reason."""
    found = {each.places[0].name: each.limited(connection) for each in features() if each.places}
    return {name.lower(): why for name, why in found.items() if why}


def largest_form(settings: Settings) -> int:
    """Return the bytes of a form that holds one file, as large as a file may be."""
    return (settings.max_upload_mb << 20) + ENVELOPE


def places(role: Role | None) -> list[Place]:
    """Return the places that exist for this role, in the order of the frame."""
    found = [place for feature in features() for place in feature.places if role in place.roles]
    return sorted(found, key=lambda place: place.order)
