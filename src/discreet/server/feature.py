"""Features of the server: found by folder, each with its routes and places; and their pages, rendered in one frame.

Pages are templates with the frame that all of them share; failures are pages, too, and Markdown becomes markup.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection

from discreet.errors import DiscreetError, NotSignedIn
from discreet.server import features as folder
from discreet.server.access.auth import API, add_routes, maybe_caller, recognise
from discreet.server.access.tokens import Role
from discreet.server.problems import status_of
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


HERE = Path(__file__).parent
THEME_COOKIE = "discreet_theme"

_TEMPLATES = Environment(
    loader=FileSystemLoader(HERE / "pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)

_HEADINGS = {
    403: "This is not open to you",
    404: "There is no such page",
    503: "Not possible right now",
}

Handler = Callable[[Request, Exception], Awaitable[Response]]


def page(
    request: Request, template: str, title: str, *, status: int = 200, **shown: Any
) -> Response:
    """Return a template inside the frame; `shown` are the names that the template uses."""
    who = maybe_caller(request)
    theme = request.cookies.get(THEME_COOKIE, "")
    text = _TEMPLATES.get_template(template).render(
        title=title,
        here=request.url.path,
        theme=theme if theme in ("light", "dark") else "",
        csrf="" if who is None else who.csrf or "",
        me=None if who is None else {"name": who.analyst or who.role.value, "role": who.role.value},
        places=places(None if who is None else who.role),
        **shown,
    )
    return HTMLResponse(text, status)


def message(request: Request, heading: str, sentence: str, *, status: int) -> Response:
    """Return a page that says one thing and leads back."""
    return page(request, "message.html", heading, status=status, heading=heading, sentence=sentence)


def add_page_problems(app: FastAPI) -> None:
    """Answer browsers that look for a page with a page, when something is wrong."""
    for kind in (DiscreetError, HTTPException):
        plain: Handler = app.exception_handlers[kind]  # type: ignore[assignment]  # ours, and async
        app.add_exception_handler(kind, _page_handler(plain))


def _page_handler(plain: Handler) -> Handler:
    async def handle(request: Request, error: Exception) -> Response:
        wants = "text/html" in request.headers.get("accept", "")
        if not wants or request.url.path.startswith(API) or isinstance(error, NotSignedIn):
            return await plain(request, error)
        await run_in_threadpool(recognise, request)
        if isinstance(error, DiscreetError):
            status, sentence = status_of(error), str(error)
        else:
            assert isinstance(error, HTTPException), "registered for these two"
            status, sentence = error.status_code, "Perhaps the address was cut or is an old one."
        return message(request, _HEADINGS.get(status, "Not done"), sentence, status=status)

    return handle


Link = Callable[[str], str | None]
"""Return where an address leads on this server, or None: then its words are told without a link."""


def to_markup(text: str, link: Link, picture: Link = lambda _address: None) -> Markup:
    """Return Markdown as markup.

    Guarantee: markup inside the text is shown as text; no script or style leaves here, and a link or
        picture leads to where `link` or `picture` says on this server or is told as words, so that a
        page asks nobody else.
    """
    from markdown_it import MarkdownIt  # when a text is first read, not when the server starts

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(text)
    for place, token in enumerate(tokens):
        _tamed(token, link)
        if token.type == "heading_open":
            token.attrs["id"] = slug(tokens[place + 1].content)
        elif token.type == "fence":
            token.info = ""  # a language's name would be a class of ours
        for inner in token.children or ():
            _tamed(inner, link)
            if inner.type == "image":
                _shown(inner, picture)
    # Only our own parser's markup: its text is escaped, its attributes are those left by _tamed.
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704 see above


def _tamed(token: Any, link: Link) -> None:
    """Take away styles, which the content policy forbids, and addresses that lead elsewhere."""
    token.attrs.pop("style", None)
    address = token.attrs.pop("href", None)
    if address is not None:
        found = link(str(address))
        if found is not None:
            token.attrs["href"] = found


def _shown(token: Any, picture: Link) -> None:
    """Lead a picture to one of our own, or tell it by its words."""
    found = picture(str(token.attrs.pop("src", "")))
    token.attrs.pop("title", None)
    if found is None:
        token.type, token.tag, token.children = "text", "", None
    else:
        token.attrs |= {"src": found, "loading": "lazy"}


def slug(heading: str) -> str:
    """Return the name of a heading within its page, as GitHub makes it.

    >>> slug("What is *not* promised?")
    'what-is-not-promised'
    """
    words = re.sub(r"[^\w\- ]", "", heading.lower())
    return words.replace(" ", "-")


_HERE = re.compile(r"/(?:notes|course|docs|lab)(?:/[A-Za-z0-9_./#-]*)?")


def own_address(address: str) -> str | None:
    """Return an address of this server's own open pages; None for any other.

    >>> own_address("/notes/0042"), own_address("https://example.org")
    ('/notes/0042', None)
    """
    return address if _HERE.fullmatch(address) else None
