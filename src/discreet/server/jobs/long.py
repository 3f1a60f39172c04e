"""Long jobs as features start them: queued, done in a child, and what became of the charge if it died."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request

from discreet.errors import AnswerLost, Cancelled, DiscreetError, LedgerError, ServerFailed
from discreet.server.access.auth import caller
from discreet.server.context import Context, context_of
from discreet.server.jobs.children import ChildEnded
from discreet.server.jobs.queue import Job

LOOKS = (0.0, 0.05, 0.2, 0.5, 1.0)
"""Seconds before each look at a charge whose process is gone: a database may notice that later."""


@dataclass(frozen=True, slots=True)
class LongTask:
    """What a child is to do, and under which id whose share pays for it, if anything is paid.

    `run` is "package.module:function" and `asked` what it is called with, in plain data. One that
    `reads` gets the catalog in force, and with it ledger and engine.
    """

    run: str
    asked: Mapping[str, Any] = field(default_factory=dict)
    reads: bool = True
    charge: str = ""
    payer: str | None = None


def submit_long(
    request: Request,
    task: LongTask,
    *,
    request_id: str = "",
    known: Callable[[], Any | None] = lambda: None,
    then: Callable[[Any], Any] = lambda answer: answer,
) -> Job:
    """Return the job that does `task` in a child for who calls; `then` is done here with its answer.

    `known` may give the answer without a child. Jobs in children are long ones: they have a quarter
    of the places, and one caller has one at a time.
    """
    context, who = context_of(request), caller(request)

    def work(job: Job) -> Any:
        answer = known()
        if answer is None:
            answer = then(run_in_child(context, job, who.name, task))
        return answer

    return context.runner.submit(who.key, work, request_id=request_id, keep=True, long=True)


def run_in_child(context: Context, job: Job, asker: str, task: LongTask) -> Any:
    """Return the answer of a task after a child did it; say what became of a charge if it died.

    Guarantee: a job is said to have cost nothing only if its child had not told that it was about to
        charge, or if the ledger holds no charge under its id now that its processes are gone.
    """
    catalog = probes = None
    if task.reads:
        with context.workspace.curator() as curator:
            catalog, probes = curator.catalog, curator.ledger.probes
    try:
        return context.children.run(
            job, task.run, task.asked, catalog=catalog, asker=asker, probes=probes
        )
    except Cancelled:
        _note_charge(context, job, task)
        raise
    except ChildEnded as ended:
        raise ended_error(str(ended), _note_charge(context, job, task)) from None


def _note_charge(context: Context, job: Job, task: LongTask) -> str | None:
    """Return what has become of the charge, and enter in the job whether there is one."""
    if not task.charge or "charging" not in job.steps:
        return None
    standing = None
    try:
        for pause in LOOKS:
            time.sleep(pause)
            with context.workspace.curator() as curator:
                standing = curator.standing(task.charge, analyst=task.payer)
            if standing != "running":
                break
    except LedgerError:
        standing = "unknown"
    if standing is not None:
        job.charged = True
    return standing


def ended_error(cause: str, standing: str | None) -> DiscreetError:
    """Return what to say of a job whose process died, by what has become of its charge."""
    match standing:
        case None:
            return ServerFailed(f"{cause} Nothing was charged.", hint="It may be started again.")
        case "answered":
            return ServerFailed(
                f"{cause} The charge stands, and what was paid for is kept.",
                hint="Ask again under the same request id: it costs nothing more.",
            )
        case "paid":
            return ServerFailed(
                f"{cause} The charge stands, and no row had been read.",
                hint="Ask again under the same request id: nothing is charged twice.",
            )
        case "lost" | "failed":
            return AnswerLost(f"{cause} It was paid for and begun, so it is lost.")
        case _:
            return ServerFailed(
                f"{cause} A charge that was made stands.",
                hint="Ask again under the same request id: it says what became of it.",
            )
