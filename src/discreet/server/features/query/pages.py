"""Ask and explain over HTTP, at once or as jobs; the catalog; and the Ask page."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from discreet.base.requests.paid import ExplainFields, QueryFields, RehearseFields
from discreet.curator import with_promise
from discreet.errors import DiscreetError, NotInForce
from discreet.server.access.auth import GuardedRoute, Principal, allow, api_router, caller
from discreet.server.access.tokens import Role
from discreet.server.bodies import answer_json, body_of, finite
from discreet.server.feature import Feature, Place, page
from discreet.server.jobs.long import (
    LOOK_AGAIN,
    IdempotencyKey,
    answer_of,
    curator_for,
    planned_first,
    request_id_of,
    standing_of,
    still_signed_in,
)
from discreet.server.jobs.queue import Job, JobState
from discreet.server.problems import problem_of
from discreet.server.views import datasets_view, first_question, readable_catalog
from discreet.server.workspace import Context, context_of

_Query: Any = body_of(QueryFields)
_Explain: Any = body_of(ExplainFields)
_Rehearsal: Any = body_of(RehearseFields)


class QuestionBody(_Query, _Explain):  # type: ignore[misc]  # its fields are the requests'
    """One question. `analyst` is for an owner who pays from an analyst's share.

    `group_size` is for explaining: rows of a group for which the noise of means is told.
    """


class RehearsalBody(_Rehearsal):  # type: ignore[misc]  # as above
    """A question about rows that were declared public, with noise that the seed repeats."""


def submit(
    context: Context, who: Principal, question: QuestionBody, key: str | None, *, keep: bool
) -> Job:
    """Return the job that answers the question; the caller's place in the queue is fair."""
    payer = who.asks_as(question.analyst)
    request_id = request_id_of(question, key)
    said = {"analyst": payer.name, "request_id": request_id}

    def work(job: Job) -> dict[str, Any]:
        with curator_for(job, context.workspace, payer, planner=context.planner) as seen:
            answer = seen.query(**question.given(QueryFields) | said)
        return answer_json(answer)

    return context.runner.submit(
        who.key,
        work,
        request_id=request_id or "",
        keep=keep,
        plans=True,
        standing=standing_of(context.workspace, request_id, payer.analyst),
    )


def submit_rehearsal(context: Context, who: Principal, wanted: RehearsalBody) -> Job:
    """Return the job that rehearses; in the same fair queue, behind the same planner."""
    payer = who.asks_as()

    def work(job: Job) -> dict[str, Any]:
        with curator_for(job, context.workspace, payer, planner=context.planner) as seen:
            return answer_json(seen.rehearse(**wanted.given(RehearseFields)))

    return context.runner.submit(who.key, work, plans=True)


def submit_explain(context: Context, who: Principal, question: QuestionBody) -> Job:
    """Return the job that explains the question; it waits in the same queue, and spends nothing."""
    payer = who.asks_as(question.analyst)

    def work(_job: Job) -> dict[str, Any]:
        with context.workspace.curator() as curator:
            seen = planned_first(curator.seen_by(payer.analyst), curator.catalog, context.planner)
            asked = question.given(ExplainFields) | {"analyst": payer.name}
            found = with_promise(seen.explain(**asked), curator.catalog)
            return finite(found.to_json())

    return context.runner.submit(who.key, work, plans=True)


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


job_router = api_router("jobs")
KEEP_ALIVE = 15.0
"""Seconds without news after which a comment keeps the connection alive."""


@job_router.post("/jobs", status_code=202)
@allow(Role.OWNER, Role.ANALYST)
async def start(
    request: Request, question: QuestionBody, idempotency_key: IdempotencyKey = None
) -> dict[str, Any]:
    """Start a question that may take long; its answer is kept for you."""
    job = submit(context_of(request), caller(request), question, idempotency_key, keep=True)
    return {"job": job.id}


@job_router.get("/jobs")
@allow(Role.OWNER, Role.ANALYST)
async def mine(request: Request) -> dict[str, Any]:
    """List your own jobs, latest first."""
    found = context_of(request).runner.mine(caller(request).key)
    return {"jobs": [_brief(job) for job in found]}


@job_router.get("/jobs/{job_id}")
@allow(Role.OWNER, Role.ANALYST)
async def look(request: Request, job_id: str) -> dict[str, Any]:
    """Say where one of your jobs stands, with its answer or its problem when it has ended."""
    return _whole(context_of(request).runner.find(caller(request).key, job_id))


@job_router.delete("/jobs/{job_id}")
@allow(Role.OWNER, Role.ANALYST)
def cancel(request: Request, job_id: str) -> dict[str, Any]:
    """Cancel one of your jobs; a charge that was made stands, and the job then says what became of it."""
    runner = context_of(request).runner
    job = runner.find(caller(request).key, job_id)
    runner.cancel(job)
    return _brief(job)


@job_router.get("/jobs/{job_id}/events", response_class=StreamingResponse)
@allow(Role.OWNER, Role.ANALYST)
async def events(request: Request, job_id: str) -> StreamingResponse:
    """Tell the steps of a job as they happen: state changes and public steps, no counts of rows."""
    job = context_of(request).runner.find(caller(request).key, job_id)
    return StreamingResponse(_told(request, job), media_type="text/event-stream")


async def _told(request: Request, job: Job) -> AsyncIterator[str]:
    loop, news = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        loop.call_soon_threadsafe(news.set)

    job.listen(wake)
    said, last, quiet = 0, None, 0.0
    try:
        while True:
            news.clear()
            steps, state = list(job.steps), job.state
            for step in steps[said:]:
                yield f"event: step\ndata: {json.dumps({'step': step})}\n\n"
            said = len(steps)
            if job.progress not in (None, last):
                last = job.progress
                yield f"event: progress\ndata: {json.dumps(_progress(job))}\n\n"
            if state.final and job.steps[said:] == []:
                yield f"event: end\ndata: {json.dumps({'state': state.value})}\n\n"
                return
            try:
                await asyncio.wait_for(news.wait(), LOOK_AGAIN)
            except TimeoutError:
                quiet += LOOK_AGAIN
                if quiet >= KEEP_ALIVE:
                    quiet = 0.0
                    yield ": still here\n\n"
            try:
                if not await still_signed_in(request):
                    return
            except NotInForce:
                return
    finally:
        job.forget(wake)


def _progress(job: Job) -> dict[str, Any] | None:
    if job.progress is None:
        return None
    done, of, what = job.progress
    return {"done": done, "of": of, "what": what}


def _brief(job: Job) -> dict[str, Any]:
    return {
        "job": job.id,
        "state": job.state.value,
        "step": job.step,
        "created": job.created,
        "request_id": job.request_id,
        "charged": job.charged,
        "progress": _progress(job),
    }


def _whole(job: Job) -> dict[str, Any]:
    found = _brief(job)
    if job.state is JobState.DONE:
        found["answer"] = job.future.result()
    elif job.state.final:
        error = job.future.exception()
        assert isinstance(error, DiscreetError), "a job turns every failure into one"
        found["problem"] = problem_of(error)
    return found


catalog_router = api_router("catalog")


@catalog_router.get("/catalog")
@allow(Role.OWNER, Role.ANALYST, Role.REVIEWER)
def catalog(request: Request) -> dict[str, Any]:
    """List the datasets that you may see: tables, columns, domains, units, and what is left."""
    return readable_catalog(request)


page_router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature(
    (router, job_router, catalog_router, page_router),
    places=(Place("Ask", "/ask", 10),),
)

START_EPSILON = "0.25"
_AMOUNT = re.compile(r"\d{0,6}\.?\d{1,12}(e-?\d{1,2})?")
"""An epsilon that an address may carry; the price is asked for before anything is spent."""
MAX_SQL = 20_000
"""Characters of a question that an address may carry."""


@page_router.get("/ask")
@allow(Role.OWNER, Role.ANALYST)
def ask(request: Request, sql: str = "", epsilon: str = "", analyst: str = "") -> Response:
    """Show the editor, the catalog beside it, and a first question already written."""
    catalog = readable_catalog(request)
    datasets = datasets_view(catalog)
    written = _AMOUNT.fullmatch(epsilon) is not None
    return page(
        request,
        "ask.html",
        "Ask",
        datasets=datasets,
        sql=sql[:MAX_SQL] or first_question(datasets),
        epsilon=epsilon if written else START_EPSILON,
        payer=analyst,
        analysts=catalog.get("analysts", []),
    )
