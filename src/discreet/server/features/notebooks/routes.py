"""Notebooks over HTTP: list, begin, read, change, delete."""

from __future__ import annotations

import time
import uuid
from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import Request
from fastapi.responses import Response
from pydantic import Field, StrictBool, StrictStr

from discreet.errors import InvalidInput, NotAllowed, UnknownName
from discreet.server.access.auth import Id, Principal, allow, api_router, caller
from discreet.server.access.tokens import Role
from discreet.server.context import context_of, kept_once
from discreet.server.features.notebooks.shelf import Notebook, Notebooks, read_cells
from discreet.server.plain_json import Body

router = api_router("notebooks")


notebooks_of = kept_once(lambda settings: Notebooks(settings.state_folder))


MOST_CELLS = 200

Title = Annotated[StrictStr, Field(min_length=1, max_length=200)]


class CellBody(Body):
    """Text, or a question with the request id of its answer and whose share paid for it."""

    kind: Literal["text", "question"]
    text: StrictStr = Field("", max_length=20_000)
    sql: StrictStr = Field("", max_length=20_000)
    epsilon: StrictStr = Field("", max_length=40)
    answer: StrictStr = Field("", max_length=200)
    analyst: StrictStr | None = Field(None, max_length=200)
    view: Literal["table", "chart"] = "table"


class NotebookBody(Body):
    """A notebook as its author writes it; a new one may begin with cells."""

    title: Title
    shared: StrictBool = False
    cells: list[CellBody] = Field(default_factory=list, max_length=MOST_CELLS)


def open_to(request: Request) -> list[Notebook]:
    """Return the caller's notebooks and those that others share, latest first."""
    who = caller(request)
    return [each for each in notebooks_of(request).all() if is_mine(who, each) or each.shared]


def is_mine(who: Principal, notebook: Notebook) -> bool:
    """Return whether the caller may change it."""
    return notebook.analyst == who.analyst


def find_notebook(request: Request, name: str) -> Notebook:
    """Return a notebook that the caller may read; others do not exist for them."""
    found = notebooks_of(request).find(name)
    if not (found.shared or is_mine(caller(request), found)):
        raise UnknownName("There is no such notebook.")
    return found


def _mine(request: Request, name: str) -> Notebook:
    found = find_notebook(request, name)
    if not is_mine(caller(request), found):
        raise NotAllowed("Only its author may change a notebook.")
    return found


@router.get("/notebooks")
@allow(Role.OWNER, Role.ANALYST)
def mine(request: Request) -> dict[str, Any]:
    """List your notebooks and those that others share with everybody here."""
    who = caller(request)
    return {"notebooks": [_brief(who, each) for each in open_to(request)]}


def _brief(who: Principal, notebook: Notebook) -> dict[str, Any]:
    facts = notebook.to_json()
    facts["cells"] = len(notebook.cells)
    return facts | {"mine": is_mine(who, notebook)}


@router.post("/notebooks", status_code=201)
@allow(Role.OWNER, Role.ANALYST)
def begin(request: Request, body: NotebookBody) -> dict[str, Any]:
    """Begin a notebook; nobody else sees it until it is shared."""
    who, shelf = caller(request), notebooks_of(request)
    shelf.room(who.analyst)
    made = Notebook(uuid.uuid4().hex, body.title, who.analyst, body.shared, time.time())
    return {"notebook": shelf.write(_with(who, made, body.cells)).id}


@router.get("/notebooks/{notebook_id}")
@allow(Role.OWNER, Role.ANALYST)
def look(request: Request, notebook_id: Id) -> dict[str, Any]:
    """Return a notebook with the stored answers of its questions, free of charge."""
    who, found = caller(request), find_notebook(request, notebook_id)
    with context_of(request).workspace.curator() as curator:
        cells = read_cells(curator, who, found)
    return _brief(who, found) | {"cells": [cell.to_json() for cell in cells]}


@router.put("/notebooks/{notebook_id}")
@allow(Role.OWNER, Role.ANALYST)
def change(request: Request, notebook_id: Id, body: NotebookBody) -> dict[str, Any]:
    """Write a notebook of yours anew: title, cells, and whether it is shared."""
    found = replace(_mine(request, notebook_id), title=body.title, shared=body.shared, cells=())
    kept = notebooks_of(request).write(_with(caller(request), found, body.cells))
    return _brief(caller(request), kept)


@router.post("/notebooks/{notebook_id}/cells", status_code=201)
@allow(Role.OWNER, Role.ANALYST)
def add(request: Request, notebook_id: Id, cell: CellBody) -> dict[str, Any]:
    """Add text or a question with its answer at the end of a notebook of yours."""
    kept = notebooks_of(request).write(_with(caller(request), _mine(request, notebook_id), [cell]))
    return _brief(caller(request), kept)


@router.delete("/notebooks/{notebook_id}", status_code=204)
@allow(Role.OWNER, Role.ANALYST)
def delete(request: Request, notebook_id: Id) -> Response:
    """Delete a notebook of yours; the answers stay in the history."""
    notebooks_of(request).remove(_mine(request, notebook_id))
    return Response(status_code=204)


def _with(who: Principal, notebook: Notebook, cells: list[CellBody]) -> Notebook:
    """Return the notebook with more cells; nobody can name an answer that another has paid for."""
    if len(notebook.cells) + len(cells) > MOST_CELLS:
        raise InvalidInput(f"A notebook has at most {MOST_CELLS} cells.", hint="Begin another one.")
    checked = [cell.model_dump() | {"analyst": who.asks_as(cell.analyst).analyst} for cell in cells]
    return replace(notebook, cells=(*notebook.cells, *checked))
