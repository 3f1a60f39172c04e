"""What was spent, by whom, and what is still free."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.responses import JSONResponse

from discreet.server.access.auth import allow, api_router, caller
from discreet.server.access.tokens import Role
from discreet.server.context import context_of
from discreet.server.plain_json import answer_json
from discreet.server.readable import AnalystQuery, readable_answer, readable_budget

router = api_router("budget")
Last = Annotated[int, Query(ge=0, le=10_000)]


@router.get("/budget")
@allow(Role.OWNER, Role.ANALYST, Role.REVIEWER)
def budget(request: Request) -> dict[str, Any]:
    """Say what is spent and left: your own share, or everything for owner and reviewer."""
    return readable_budget(request)


@router.get("/history")
@allow(Role.OWNER, Role.ANALYST, Role.REVIEWER)
def history(request: Request, last: Last = 50) -> dict[str, Any]:
    """List the latest entries of the ledger: your own charges, or all for owner and reviewer."""
    who = caller(request)
    with context_of(request).workspace.curator() as curator:
        mine = (who.analyst,) if who.role is Role.ANALYST else None
        return {"entries": curator.history(last=last, analysts=mine)}


@router.get("/answers")
@allow(Role.OWNER, Role.ANALYST)
def answers(request: Request, last: Last = 50) -> dict[str, Any]:
    """List what you have paid for: asking the same again is free while the data is the same."""
    who = caller(request)
    with context_of(request).workspace.curator() as curator:
        return {"answers": curator.history(last=last, analysts=(curator.account_of(who.analyst),))}


@router.get("/answers/{request_id}")
@allow(Role.OWNER, Role.ANALYST)
def answer(request: Request, request_id: str, analyst: AnalystQuery = None) -> JSONResponse:
    """Return one of your paid answers again, with its question, free of charge.

    An owner may name the analyst whose share paid for it.
    """
    found, question = readable_answer(request, request_id, analyst)
    return JSONResponse(answer_json(found) | {"question": question})
