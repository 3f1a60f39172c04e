"""Answers and notebooks to take away: CSV, Parquet, and notebooks that Jupyter opens."""

from __future__ import annotations

import io
import re

import pyarrow.parquet as pq
from fastapi import Request
from fastapi.responses import Response

from discreet.errors import UnknownName
from discreet.server.access.auth import Id, allow, api_router, caller
from discreet.server.access.tokens import Role
from discreet.server.context import context_of
from discreet.server.features.notebooks.ipynb import MEDIA_TYPE, ipynb
from discreet.server.features.notebooks.routes import find_notebook
from discreet.server.features.notebooks.shelf import read_cells
from discreet.server.readable import AnalystQuery, readable_answer
from discreet.server.shelf import MEDIA_TYPES

router = api_router("notebooks")


@router.get("/answers/{request_id}/answer.{ending}", response_class=Response)
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


@router.get("/notebooks/{notebook_id}/notebook.ipynb", response_class=Response)
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
