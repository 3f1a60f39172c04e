"""What a bound on rows leaves out beside the noise: the price first, then the paid look."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from discreet.api import Curator
from discreet.core.requests.look import BoundsFields
from discreet.server.access.asked_as import AskedAs
from discreet.server.access.auth import allow, api_router, caller
from discreet.server.access.tokens import Role
from discreet.server.asking.request_id import IdempotencyKey, request_id_of
from discreet.server.bodies.request_body import body_of
from discreet.server.context import context_of
from discreet.server.jobs.long_calls import answer_of, planned
from discreet.server.jobs.planned_first import curator_for, standing_of
from discreet.server.jobs.queue import Job
from discreet.server.plain_json import finite

router = api_router("data")


_Fields: Any = body_of(BoundsFields)


class BoundsBody(_Fields):  # type: ignore[misc]  # its fields are the request's
    """A look at the rows that people have in one table, written as dataset.table."""

    def asked(self, payer: AskedAs, *, request_id: str | None = None) -> dict[str, Any]:
        """Return what the curator is asked, and what the server says instead."""
        said: dict[str, Any] = self.given(BoundsFields)
        return said | {"analyst": payer.name, "request_id": request_id}


@router.post("/bounds/explain")
@allow(Role.OWNER, Role.ANALYST)
async def explain(request: Request, body: BoundsBody) -> dict[str, Any]:
    """Say what the look would cost; spend nothing."""
    payer = caller(request).asks_as(body.analyst)

    def foretold(curator: Curator) -> dict[str, Any]:
        seen = curator.seen_by(payer.analyst)
        return finite(seen.explain_bounds(**body.asked(payer)).to_json())

    return await planned(request, foretold)


@router.post("/bounds")
@allow(Role.OWNER, Role.ANALYST)
async def bounds(
    request: Request, body: BoundsBody, idempotency_key: IdempotencyKey = None
) -> dict[str, Any]:
    """Return what each bound leaves out beside its noise; the budget is charged first."""
    who, context = caller(request), context_of(request)
    payer, request_id = who.asks_as(body.analyst), request_id_of(body, idempotency_key)

    def work(job: Job) -> dict[str, Any]:
        with curator_for(job, context.workspace, payer) as seen:
            found = seen.bounds(**body.asked(payer, request_id=request_id))
        return finite(found.to_json())

    standing = standing_of(context.workspace, request_id, payer.analyst)
    job = context.runner.submit(who.key, work, request_id=request_id or "", standing=standing)
    said: dict[str, Any] = await answer_of(request, job)
    return said
