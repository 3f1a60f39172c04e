"""Ask and explain."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse

from discreet.server.access.auth import allow, api_router, caller
from discreet.server.access.tokens import Role
from discreet.server.asking.request_id import IdempotencyKey
from discreet.server.context import context_of
from discreet.server.features.query.body import (
    QuestionBody,
    RehearsalBody,
    submit,
    submit_explain,
    submit_rehearsal,
)
from discreet.server.jobs.long_calls import answer_of

router = api_router("ask")


@router.post("/query")
@allow(Role.OWNER, Role.ANALYST)
async def query(
    request: Request, question: QuestionBody, idempotency_key: IdempotencyKey = None
) -> JSONResponse:
    """Answer one SQL question privately; the budget is charged first."""
    job = submit(context_of(request), caller(request), question, idempotency_key, keep=False)
    return JSONResponse(await answer_of(request, job))


@router.post("/rehearse")
@allow(Role.OWNER, Role.ANALYST)
async def rehearse(request: Request, wanted: RehearsalBody) -> JSONResponse:
    """Answer a question about rows that were declared public with noise that the seed repeats: not private, and marked so."""
    job = submit_rehearsal(context_of(request), caller(request), wanted)
    return JSONResponse(await answer_of(request, job))


@router.post("/explain")
@allow(Role.OWNER, Role.ANALYST)
async def explain(request: Request, question: QuestionBody) -> dict[str, Any]:
    """Say what a question would cost, how exact it would be and what it promises; spend nothing."""
    job = submit_explain(context_of(request), caller(request), question)
    said: dict[str, Any] = await answer_of(request, job)
    return said
