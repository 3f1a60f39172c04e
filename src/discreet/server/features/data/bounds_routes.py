"""What a bound on rows leaves out beside the noise: the price first, then the paid look."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from pydantic import Field, StrictStr

from discreet.api import Curator
from discreet.api.bounding import price
from discreet.core.owner import OWNER
from discreet.server.access.auth import allow, api_router, caller
from discreet.server.access.tokens import Role
from discreet.server.context import context_of
from discreet.server.features.query.asked_body import Amount
from discreet.server.features.query.body import payer_of
from discreet.server.jobs.lasting import answer_of, planned
from discreet.server.jobs.queue import Job
from discreet.server.jobs.rehearsed import curator_for
from discreet.server.plain_json import Body, finite

router = api_router("data")


class BoundsBody(Body):
    """A look at the rows that people have in one table, written as dataset.table."""

    table: StrictStr = Field(min_length=1, max_length=400)
    epsilon: Amount
    at: Amount = 1
    request_id: StrictStr | None = Field(None, min_length=1, max_length=200)
    analyst: StrictStr | None = Field(None, max_length=200)


@router.post("/bounds/explain")
@allow(Role.OWNER, Role.ANALYST)
async def explain(request: Request, body: BoundsBody) -> dict[str, Any]:
    """Say what the look would cost; spend nothing."""
    analyst = payer_of(caller(request), body.analyst)

    def foretold(curator: Curator) -> dict[str, Any]:
        seen = curator.seen_by(analyst)
        said = price(seen, body.table, epsilon=body.epsilon, payer=seen.account_of(analyst))
        return finite(said.to_json())

    return await planned(request, foretold)


@router.post("/bounds")
@allow(Role.OWNER, Role.ANALYST)
async def bounds(request: Request, body: BoundsBody) -> dict[str, Any]:
    """Return what each bound leaves out beside its noise; the budget is charged first."""
    who, context = caller(request), context_of(request)
    analyst = payer_of(who, body.analyst)

    def work(job: Job) -> dict[str, Any]:
        with curator_for(job, context.workspace, analyst, asker=who.name) as seen:
            found = seen.bounds(
                body.table,
                epsilon=body.epsilon,
                at=body.at,
                analyst=analyst or OWNER,
                request_id=body.request_id,
            )
        return finite(found.to_json())

    job = context.runner.submit(who.key, work, request_id=body.request_id or "")
    said: dict[str, Any] = await answer_of(request, job)
    return said
