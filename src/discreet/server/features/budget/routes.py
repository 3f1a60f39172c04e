"""What was spent, by whom, and what is still free."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.responses import JSONResponse

from discreet.api import question_of
from discreet.core.answers.answer import Answer
from discreet.errors import UnknownName
from discreet.server.access.auth import allow, api_router, caller
from discreet.server.access.tokens import Role
from discreet.server.context import context_of
from discreet.server.plain_json import answer_json

router = api_router("budget")
DatasetQuery = Annotated[str | None, Query(max_length=200)]
Last = Annotated[int, Query(ge=0, le=10_000)]


@router.get("/budget")
@allow(Role.OWNER, Role.ANALYST, Role.REVIEWER)
def budget(request: Request) -> dict[str, Any]:
    """Say what is spent and left: your own share, or everything for owner and reviewer."""
    who = caller(request)
    with context_of(request).workspace.curator() as curator:
        if who.role is Role.ANALYST:
            return {"analyst": who.analyst, **curator.share_report(who.analyst)}
        if who.role is Role.REVIEWER:
            # Which group is most exposed follows from all questions: for the owner's eyes only.
            return {
                "analyst": None,
                **curator.share_report(),
                "analysts": curator.analysts_report(),
            }
        found = dict(curator.budget_report())
        found.pop("without_budget", None)
        return found


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
def answer(request: Request, request_id: str, analyst: DatasetQuery = None) -> JSONResponse:
    """Return one of your paid answers again, with its question, free of charge.

    An owner may name the analyst whose share paid for it.
    """
    found, question = answered(request, request_id, analyst)
    return JSONResponse(answer_json(found) | {"question": question})


def answered(
    request: Request, request_id: str, analyst: str | None
) -> tuple[Answer, dict[str, Any]]:
    """Return a stored answer that the caller may read, and what was asked for it."""
    payer = caller(request).asks_as(analyst).analyst
    with context_of(request).workspace.curator() as curator:
        share = curator.account_of(payer)
        found = curator.stored_answer(request_id, analyst=share)
        question = question_of(curator, request_id, share)
    if found is None or question is None:
        raise UnknownName("You have no answer under this request id.")
    return found, question
