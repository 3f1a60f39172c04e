"""Calls that last: an answer that is waited for, a stream. They end when their token does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from discreet.errors import NotSignedIn
from discreet.server.access.auth import caller, found_again
from discreet.server.context import context_of
from discreet.server.jobs.queue import Job

if TYPE_CHECKING:
    from discreet.api import Curator

Found = TypeVar("Found")
LOOK_AGAIN = 1.0
"""Seconds between looks at the token of a call that lasts."""


async def still_signed_in(request: Request) -> bool:
    """Return whether the caller would be let in again now: not revoked, expired or taken out."""
    workspace = context_of(request).workspace
    if workspace.changed():
        await run_in_threadpool(workspace.refresh)
    return found_again(request)


async def answer_of(request: Request, job: Job) -> Any:
    """Return what a job answers, while its caller may have it.

    Guarantee: a caller whose token is revoked meanwhile gets 401 within about a second, and the job
        is cancelled; a charge that was made stands. An analyst whom the catalog does not confirm at the
        end gets NotInForce; the answer is kept under its request id, as after a lost connection.
    """
    waited = asyncio.wrap_future(job.future)
    done, _ = await asyncio.wait({waited}, timeout=LOOK_AGAIN)
    while not done:
        if not await still_signed_in(request):
            await run_in_threadpool(context_of(request).runner.cancel, job)
            waited.cancel()
            raise NotSignedIn("Your token was revoked or has expired while you waited.")
        done, _ = await asyncio.wait({waited}, timeout=LOOK_AGAIN)
    analyst = caller(request).analyst
    if analyst is not None:
        context_of(request).workspace.lists(analyst)
    return waited.result()


async def planned(request: Request, plan: Callable[[Curator], Found]) -> Found:
    """Return what `plan` says with the curator in force: a price, a draft; it charges nothing.

    Planning holds the data as it is now, and a large source is read at its first use for that. So it waits
    in the fair queue as an explanation does, one of a caller at a time, and stops when its caller is gone.
    """
    context = context_of(request)

    def work(job: Job) -> Found:
        with context.workspace.curator() as curator:
            job.stop = lambda thread: curator.engine.cancel(thread=thread)
            try:
                return plan(curator)
            finally:
                job.stop = None

    job = context.runner.submit(caller(request).key, work, plans=True)
    found: Found = await answer_of(request, job)
    return found
