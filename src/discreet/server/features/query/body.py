"""From the words of the HTTP API to a question of the curator, and back."""

from __future__ import annotations

from typing import Any

from discreet.api import with_promise
from discreet.core.requests.question import ExplainFields, QueryFields, RehearseFields
from discreet.server.access.auth import Principal
from discreet.server.asking.request_id import request_id_of
from discreet.server.bodies.request_body import body_of
from discreet.server.context import Context
from discreet.server.jobs.planned_first import curator_for, planned_first, standing_of
from discreet.server.jobs.queue import Job
from discreet.server.plain_json import answer_json, finite

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
