"""Notebooks: text and questions with their answers; the API, exports to CSV, Parquet and Jupyter, and pages."""

from __future__ import annotations

import io
import json
import re
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import pyarrow.parquet as pq
from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field, StrictBool, StrictStr

from discreet.base.answer import Answer
from discreet.curator import Curator
from discreet.errors import InvalidInput, NotAllowed, UnknownName
from discreet.server.access.auth import GuardedRoute, Id, Principal, allow, api_router, caller
from discreet.server.access.tokens import Role
from discreet.server.bodies import Body, answer_json
from discreet.server.feature import Feature, page
from discreet.server.shelf import MEDIA_TYPES, Kept, Shelf
from discreet.server.views import AnalystQuery, readable_answer
from discreet.server.workspace import context_of, kept_once

CLOSED = "A question about data that is not open to you."
GONE = "Its answer is not kept any more."


@dataclass(frozen=True, slots=True)
class Notebook(Kept):
    """`analyst` is whose it is, None for the owner's; `cells` are plain objects, checked on the way in.

    A cell is text, or a question with the request id of its answer. Answers stay in the ledger: a
    notebook only names them, and whoever may not see a data set sees nothing of its cells.
    """

    id: str
    title: str
    analyst: str | None
    shared: bool
    created: float
    cells: tuple[dict[str, Any], ...] = ()


class Notebooks(Shelf[Notebook]):
    """The notebooks of this server."""

    kind, folder, listed_by = Notebook, "notebooks", "/api/v1/notebooks"
    one, many = "notebook", "notebooks"

    def write(self, notebook: Notebook) -> Notebook:
        """Return the notebook, kept as it is now."""
        return self.keep(notebook, lambda _place: None)


@dataclass(frozen=True, slots=True)
class ReadCell:
    """A cell as this reader may see it; `answer` None where there is none for them."""

    cell: Mapping[str, Any]
    answer: Answer | None
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        found = None if self.answer is None else answer_json(self.answer)
        return dict(self.cell) | {"found": found, "problem": self.problem}


def read_cells(curator: Curator, who: Principal, notebook: Notebook) -> list[ReadCell]:
    """Return the cells in their order, each with its stored answer; nothing is paid.

    Guarantee: of a data set in which an analyst has no share, neither answer nor question is shown.
    """
    return [_read(curator, who, notebook, cell) for cell in notebook.cells]


def _read(
    curator: Curator, who: Principal, notebook: Notebook, cell: Mapping[str, Any]
) -> ReadCell:
    if cell["kind"] == "text":
        return ReadCell(cell, None)
    payer = curator.account_of(cell["analyst"] or notebook.analyst)
    answer = curator.stored_answer(cell["answer"], analyst=payer) if cell["answer"] else None
    if answer is None:
        mine = notebook.analyst == who.analyst
        return ReadCell(cell, None, GONE) if mine else _closed(cell, GONE)
    if answer.provenance.dataset not in curator.visible(who.analyst):
        return _closed(cell, CLOSED)
    return ReadCell(cell, answer)


def _closed(cell: Mapping[str, Any], why: str) -> ReadCell:
    return ReadCell(dict(cell) | {"sql": "", "answer": "", "text": ""}, None, why)


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


MEDIA_TYPE = "application/x-ipynb+json"

_START = """import os
import discreet

# Make a token for yourself on the page (or: discreet token new), and keep it out of this file.
client = discreet.connect({address!r}, token=os.environ["DISCREET_TOKEN"])"""


def ipynb(
    title: str, address: str, cells: Iterable[tuple[Mapping[str, Any], Answer | None]]
) -> str:
    """Return the text of the notebook; the same request ids return the stored answers, unpaid."""
    parts = [_text(f"# {title}"), _code(_START.format(address=address))]
    for cell, answer in cells:
        parts.append(_text(cell["text"]) if cell["kind"] == "text" else _question(cell, answer))
    facts = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    numbered = [part | {"id": f"cell-{i}"} for i, part in enumerate(parts)]
    whole = {"cells": numbered, "metadata": facts, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False)


def _question(cell: Mapping[str, Any], answer: Answer | None) -> dict[str, Any]:
    asked = f"{cell['sql']!r},\n    epsilon={cell['epsilon'] or '1'!r}"
    named = f",\n    request_id={cell['answer']!r}" if cell["answer"] else ""
    payer = f",\n    analyst={cell['analyst']!r}" if cell["analyst"] else ""
    chart = "\nanswer.plot()" if cell["view"] == "chart" else ""
    return _code(f"answer = client.query(\n    {asked}{named}{payer},\n)\nanswer{chart}", answer)


def _text(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _code(source: str, answer: Answer | None = None) -> dict[str, Any]:
    shown = [] if answer is None else [_shown(answer)]
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "source": source,
        "outputs": shown,
    }


def _shown(answer: Answer) -> dict[str, Any]:
    data = {"text/plain": str(answer), "text/html": answer._repr_html_()}
    return {"output_type": "display_data", "metadata": {}, "data": data}


exports_router = api_router("notebooks")


@exports_router.get("/answers/{request_id}/answer.{ending}", response_class=Response)
@allow(Role.OWNER, Role.ANALYST)
def export_answer(
    request: Request, request_id: str, ending: str, analyst: AnalystQuery = None
) -> Response:
    """Return one of your paid answers as csv, parquet or ipynb, free of charge."""
    answer, question = readable_answer(request, request_id, analyst)
    if ending == "csv":
        return _file(answer.to_csv().encode(), MEDIA_TYPES["csv"], "answer.csv")
    if ending == "parquet":
        place = io.BytesIO()
        pq.write_table(answer.to_arrow(), place)
        return _file(place.getvalue(), MEDIA_TYPES["parquet"], "answer.parquet")
    if ending != "ipynb":
        raise UnknownName("An answer is exported as csv, parquet or ipynb.")
    epsilon = "" if question["epsilon"] is None else f"{question['epsilon']:.12g}"
    cell = {"kind": "question", "sql": question["sql"], "epsilon": epsilon, "view": "chart"}
    cell |= {"answer": request_id, "analyst": analyst}
    text = ipynb("A private answer", str(request.base_url).rstrip("/"), [(cell, answer)])
    return _file(text.encode(), MEDIA_TYPE, "answer.ipynb")


@exports_router.get("/notebooks/{notebook_id}/notebook.ipynb", response_class=Response)
@allow(Role.OWNER, Role.ANALYST)
def export_notebook(request: Request, notebook_id: Id) -> Response:
    """Return a notebook as Jupyter opens it, with the answers that you may see."""
    found = find_notebook(request, notebook_id)
    with context_of(request).workspace.curator() as curator:
        cells = read_cells(curator, caller(request), found)
    seen = [(each.cell, each.answer) for each in cells if not each.problem]
    text = ipynb(found.title, str(request.base_url).rstrip("/"), seen)
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", found.title).strip("-")[:60] or "notebook"
    return _file(text.encode(), MEDIA_TYPE, f"{name}.ipynb")


def _file(content: bytes, kind: str, name: str) -> Response:
    return Response(
        content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


page_router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature((router, exports_router, page_router))


@page_router.get("/notebooks")
@allow(Role.OWNER, Role.ANALYST)
def notebooks(request: Request) -> Response:
    """List the caller's notebooks and those that others share."""
    who = caller(request)
    shown = [_view(each) | {"mine": is_mine(who, each)} for each in open_to(request)]
    return page(request, "notebooks.html", "Notebooks", notebooks=shown)


@page_router.get("/notebooks/{notebook_id}")
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
