"""Choices over HTTP: the most common value or the best price, by the exponential mechanism."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from discreet.api import Curator
from discreet.core.requests.learn import SelectFields
from discreet.learn.select import SelectRequest, planned_choice
from discreet.server.access.auth import allow, api_router
from discreet.server.access.tokens import Role
from discreet.server.asking.paid import PaidAsk, foreseen
from discreet.server.asking.request_id import IdempotencyKey
from discreet.server.bodies.request_body import body_of
from discreet.server.jobs.long import LongTask, submit_long
from discreet.server.jobs.long_calls import planned
from discreet.server.plain_json import finite

router = api_router("choices")
_CHILD = "discreet.server.features.learn.in_child:choose"


_Fields: Any = body_of(SelectFields)


class ChoiceBody(_Fields):  # type: ignore[misc]  # its fields are the request's
    """One choice among a column's declared values: `vote` for the most common, `price` to earn most."""


@router.post("/choices", status_code=202)
@allow(Role.OWNER, Role.ANALYST)
async def choose(
    request: Request, body: ChoiceBody, idempotency_key: IdempotencyKey = None
) -> dict[str, Any]:
    """Start choosing one of a column's values; follow the job: its answer is the choice."""
    paid = PaidAsk.of(request, body, idempotency_key)
    # What can be refused is refused here, not in the queue of long jobs.
    await planned(request, lambda curator: _price(curator, body, paid))
    asked = {
        "payer": paid.payer,
        "asked": body.given(SelectFields) | paid.charged,
    }
    task = LongTask(_CHILD, asked, charge=paid.request_id, payer=paid.analyst)
    return {"job": submit_long(request, task, request_id=paid.request_id).id}


@router.post("/choices/explain")
@allow(Role.OWNER, Role.ANALYST)
async def explain_choice(request: Request, body: ChoiceBody) -> dict[str, Any]:
    """Say what a choice would cost and how far from the best it may lie; spends nothing."""
    paid = PaidAsk.of(request, body)
    return await planned(request, lambda curator: _price(curator, body, paid))


def _price(curator: Curator, body: ChoiceBody, paid: PaidAsk) -> dict[str, Any]:
    asked = body.given(SelectFields)
    plan, price = foreseen(curator, paid, SelectRequest.of, asked, planned_choice)
    said = {"table": plan.look.table, "candidates": plan.column.values, "loss95": plan.loss95}
    return finite(price | said)
