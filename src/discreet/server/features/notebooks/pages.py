"""The pages of notebooks: the list, and one notebook with its answers as tables and charts."""

from __future__ import annotations

import time

from fastapi import APIRouter, Request
from fastapi.responses import Response

from discreet.server.access.auth import GuardedRoute, allow, caller
from discreet.server.access.tokens import Role
from discreet.server.feature import Feature
from discreet.server.features.notebooks import exports, routes
from discreet.server.features.notebooks.routes import find_notebook, is_mine, open_to
from discreet.server.features.notebooks.shelf import Notebook
from discreet.server.rendering import page

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature((routes.router, exports.router, router))


@router.get("/notebooks")
@allow(Role.OWNER, Role.ANALYST)
def notebooks(request: Request) -> Response:
    """List the caller's notebooks and those that others share."""
    who = caller(request)
    shown = [_view(each) | {"mine": is_mine(who, each)} for each in open_to(request)]
    return page(request, "notebooks.html", "Notebooks", notebooks=shown)


@router.get("/notebooks/{notebook_id}")
@allow(Role.OWNER, Role.ANALYST)
def one_notebook(request: Request, notebook_id: str) -> Response:
    """Show one notebook; its author may change it in place."""
    found = find_notebook(request, notebook_id)
    mine = is_mine(caller(request), found)
    return page(request, "notebook.html", found.title, notebook=_view(found), mine=mine)


def _view(notebook: Notebook) -> dict[str, object]:
    return {
        "id": notebook.id,
        "title": notebook.title,
        "who": notebook.analyst or "owner",
        "shared": notebook.shared,
        "questions": sum(cell["kind"] == "question" for cell in notebook.cells),
        "when": time.strftime("%Y-%m-%d", time.gmtime(notebook.created)),
    }
