"""Long questions: start, look, listen, cancel."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi import Request
from fastapi.responses import StreamingResponse

from discreet.errors import DiscreetError, NotInForce
from discreet.server.access.auth import allow, api_router, caller
from discreet.server.access.tokens import Role
from discreet.server.asking.request_id import IdempotencyKey
from discreet.server.context import context_of
from discreet.server.features.query.body import QuestionBody, submit
from discreet.server.jobs.long_calls import LOOK_AGAIN, still_signed_in
from discreet.server.jobs.queue import Job, JobState
from discreet.server.problems import problem_of

router = api_router("jobs")
KEEP_ALIVE = 15.0
"""Seconds without news after which a comment keeps the connection alive."""


@router.post("/jobs", status_code=202)
@allow(Role.OWNER, Role.ANALYST)
async def start(
    request: Request, question: QuestionBody, idempotency_key: IdempotencyKey = None
) -> dict[str, Any]:
    """Start a question that may take long; its answer is kept for you."""
    job = submit(context_of(request), caller(request), question, idempotency_key, keep=True)
    return {"job": job.id}


@router.get("/jobs")
@allow(Role.OWNER, Role.ANALYST)
async def mine(request: Request) -> dict[str, Any]:
    """List your own jobs, latest first."""
    found = context_of(request).runner.mine(caller(request).key)
    return {"jobs": [_brief(job) for job in found]}


@router.get("/jobs/{job_id}")
@allow(Role.OWNER, Role.ANALYST)
async def look(request: Request, job_id: str) -> dict[str, Any]:
    """Say where one of your jobs stands, with its answer or its problem when it has ended."""
    return _whole(context_of(request).runner.find(caller(request).key, job_id))


@router.delete("/jobs/{job_id}")
@allow(Role.OWNER, Role.ANALYST)
def cancel(request: Request, job_id: str) -> dict[str, Any]:
    """Cancel one of your jobs; a charge that was made stands, and the job then says what became of it."""
    runner = context_of(request).runner
    job = runner.find(caller(request).key, job_id)
    runner.cancel(job)
    return _brief(job)


@router.get("/jobs/{job_id}/events", response_class=StreamingResponse)
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
