"""The documentation's pages: documents and notes of the package, found by name and rendered once."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response
from markupsafe import Markup

from discreet.errors import UnknownName
from discreet.server.access.auth import GuardedRoute, everybody
from discreet.server.feature import Feature, own_address, page, to_markup

HERE = Path(__file__).parents[2]
_PICTURE = re.compile(r"images/[a-z]{1,30}\.png")
_NAME = re.compile(r"(?:(?:tutorials|reference)/)?[a-z0-9-]{1,40}")
_NOTE = re.compile(r"(?:\.\./)*notes/(\d{4})-[a-z0-9-]+\.md")
_NOTE_FILE = re.compile(r"(\d{4})-[a-z0-9-]+\.md")
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Tutorials": (
        "tutorials/first-answer",
        "tutorials/own-csv",
        "tutorials/publish",
        "tutorials/synthetic",
        "tutorials/survey",
        "tutorials/anonymize",
        "tutorials/learn",
        "tutorials/clients",
        "tutorials/deploy",
        "coming-from",
    ),
    "How it works": (
        "course",
        "town",
        "catalog",
        "sql",
        "publish",
        "packages",
        "synth",
        "survey",
        "survey-pages",
        "survey-reports",
        "learn",
        "anonymize",
        "attacks",
        "audit",
        "engines",
        "server",
        "operators",
        "scale",
        "benchmarks",
        "pages",
        "pgwire",
        "security",
        "evidence",
        "mistakes",
        "tour",
    ),
    "Reference": (
        "reference/commands",
        "reference/endpoints",
        "reference/errors",
        "reference/python",
        "reference/settings",
        "versions",
    ),
}
"""Every document in the order of the contents; a test finds each file in here."""


@dataclass(frozen=True, slots=True)
class Doc:
    """One document or note: its name or number, its title, and the rest as markup of our own making."""

    name: str
    title: str
    body: Markup


def docs_folder() -> Path:
    """Return where the documents lie: in the package, or in the repository that it runs from."""
    inside = HERE / "doc_files"
    return inside if inside.is_dir() else HERE.parents[2] / "docs"


@cache
def doc(name: str) -> Doc:
    """Return the document of this name; read once. Names are of a closed form and never leave the folder."""
    path = docs_folder() / f"{name}.md"
    if _NAME.fullmatch(name) is None or not path.is_file():
        raise UnknownName("There is no such document.", hint="See /docs for all of them.")
    return rendered(name, path.read_text(encoding="utf-8"))


def rendered(name: str, text: str) -> Doc:
    """Return a document from its Markdown; comments in it are for machines."""
    heading, _, rest = _COMMENT.sub("", text).lstrip().partition("\n")
    folder = posixpath.dirname(name)
    body = to_markup(
        rest,
        lambda address: link_from(folder, address),
        lambda address: picture_from(folder, address),
    )
    return Doc(name, heading.removeprefix("#").strip(), body)


def picture_from(folder: str, address: str) -> str | None:
    """Return where a picture of a document lies here; None for any other.

    >>> picture_from("tutorials", "../images/ask.png"), picture_from("", "https://a.example/images/x.png")
    ('/docs/images/ask.png', None)
    """
    path = posixpath.normpath(posixpath.join(folder, address))
    return f"/docs/{path}" if _PICTURE.fullmatch(path) else None


def picture(file: str) -> Path:
    """Return the file of a picture; names are of a closed form and never leave the folder."""
    path = docs_folder() / "images" / file
    if _PICTURE.fullmatch(f"images/{file}") is None or not path.is_file():
        raise UnknownName("There is no such picture.")
    return path


def link_from(folder: str, address: str) -> str | None:
    """Return where a link of a document leads here: to a note, a document or an open page.

    >>> link_from("", "attacks.md#linkage"), link_from("tutorials", "../sql.md"), link_from("", "../src/x.py")
    ('/docs/attacks#linkage', '/docs/sql', None)
    """
    if address.startswith("#"):
        return address
    note = _NOTE.search(address)
    if note is not None:
        return f"/notes/{note[1]}"
    path, _, part = address.partition("#")
    name = posixpath.normpath(posixpath.join(folder, path)).removesuffix(".md")
    if path.endswith(".md") and _NAME.fullmatch(name):
        return f"/docs/{name}" + (f"#{part}" if part else "")
    return own_address(address)


@cache
def all_notes() -> dict[str, Doc]:
    """Return every proof note by its number, in order; read once."""
    found = {}
    for path in sorted((docs_folder() / "notes").glob("*.md")):
        match = _NOTE_FILE.fullmatch(path.name)
        if match is not None:
            found[match[1]] = rendered_note(match[1], path.read_text(encoding="utf-8"))
    return found


def note(number: str) -> Doc:
    """Return the note with this number."""
    found = all_notes().get(number)
    if found is None:
        raise UnknownName("There is no note with this number.", hint="See /notes for all of them.")
    return found


def rendered_note(number: str, text: str) -> Doc:
    """Return a note from its Markdown.

    Guarantee: markup inside the text is shown as text; no picture, script or style leaves here, and
        a link leads to another note or is told as words, so that a page asks nobody else.
    """
    heading, _, rest = text.partition("\n")
    title = heading.removeprefix("#").strip().removeprefix(number).lstrip(": ").strip()
    return Doc(number, title, to_markup(rest, _note_link))


def _note_link(address: str) -> str | None:
    """Return the page of another note; addresses that lead elsewhere have none."""
    match = _NOTE_FILE.search(address)
    return None if match is None else f"/notes/{match[1]}"


router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature((router,))


@router.get("/docs")
@everybody
def contents(request: Request) -> Response:
    """List every document."""
    groups = [
        {"name": group, "docs": [{"name": name, "title": doc(name).title} for name in names]}
        for group, names in GROUPS.items()
    ]
    return page(request, "docs.html", "Documentation", groups=groups)


@router.get("/docs/images/{file}")
@everybody
def image(request: Request, file: str) -> Response:
    """Return a picture of the documents."""
    del request
    return FileResponse(picture(file), media_type="image/png")


@router.get("/docs/{name:path}")
@everybody
def one(request: Request, name: str) -> Response:
    """Show one document."""
    found = doc(name)
    return page(request, "doc.html", found.title, doc=found)


@router.get("/notes")
@everybody
def notes(request: Request) -> Response:
    """List the notes that say why each part keeps its promise."""
    return page(request, "notes.html", "Notes", notes=list(all_notes().values()))


@router.get("/notes/{number}")
@everybody
def one_note(request: Request, number: str) -> Response:
    """Show one note."""
    found = note(number)
    return page(request, "note.html", f"{found.name} {found.title}", note=found)
