"""The documentation's pages: what there is, and one document or note."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response

from discreet.server.access.auth import GuardedRoute, everybody
from discreet.server.feature import Feature
from discreet.server.features.docs.reading import GROUPS, all_notes, doc, note, picture
from discreet.server.rendering import page

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
