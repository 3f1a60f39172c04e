"""Markdown of our own as markup: notes, lessons and documentation, rendered here, offline."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from markupsafe import Markup

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
