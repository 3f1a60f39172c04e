"""Long jobs as features start them: queued, done in a child, and what became of the charge if it died."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request

from discreet.errors import AnswerLost, LedgerError, LedgerTampered, ServerFailed
from discreet.server.access.auth import caller
from discreet.server.context import Context, context_of
from discreet.server.jobs.children import ChildEnded
from discreet.server.jobs.planned_first import standing_of
from discreet.server.jobs.queue import Job


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

    standing = standing_of(context.workspace, task.charge, task.payer)
    return context.runner.submit(
        who.key, work, request_id=request_id, keep=True, long=True, standing=standing
    )


def run_in_child(context: Context, job: Job, asker: str, task: LongTask) -> Any:
    """Return the answer of a task after a child did it; say what became of a charge if it died."""
    catalog = probes = known = None
    if task.reads:
        with context.workspace.curator() as curator:
            catalog, probes = curator.catalog, curator.ledger.probes
            known = curator.ledger.known()
    try:
        answer = context.children.run(
            job, task.run, task.asked, catalog=catalog, asker=asker, probes=probes, known=known
        )
    except ChildEnded as ended:
        became = job.became()
        kind = AnswerLost if became.over else ServerFailed
        raise kind(f"{ended} {became.text}", hint=became.hint) from None
    if task.reads:
        _see_what_was_charged(context)
    return answer


def _see_what_was_charged(context: Context) -> None:
    """Remember here what a child has entered, so that it cannot be taken out unseen."""
    with context.workspace.last_curator() as curator:
        try:
            curator.ledger.known()
        except LedgerTampered:
            raise
        except LedgerError:
            return  # busy or out of reach: it is seen at the next use
