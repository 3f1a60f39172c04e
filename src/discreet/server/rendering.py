"""Pages from templates, with the frame that all of them share; failures as pages; Markdown as markup."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from discreet.errors import DiscreetError, NotSignedIn
from discreet.server.access.auth import API, maybe_caller, recognise
from discreet.server.feature import places
from discreet.server.problems import status_of

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
