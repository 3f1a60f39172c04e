"""Models: price, train, list, download, delete."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, Response

from discreet.api import Curator
from discreet.core.requests.learn import LearnFields
from discreet.learn.learners import choices, chosen
from discreet.learn.prepare import planned_training
from discreet.learn.request import LearnRequest
from discreet.server.access.auth import Id, allow, api_router, caller
from discreet.server.access.tokens import Role
from discreet.server.asking.paid import PaidAsk, foreseen, kept_for, submit_paid
from discreet.server.asking.request_id import IdempotencyKey
from discreet.server.bodies.request_body import body_of
from discreet.server.context import context_of, kept_once
from discreet.server.features.learn.shelf import FILE, Models
from discreet.server.jobs.long_calls import planned
from discreet.server.plain_json import finite

router = api_router("models")


models_of = kept_once(lambda settings: Models(settings.state_folder))

_Fields: Any = body_of(LearnFields, **choices())


class TrainBody(_Fields):  # type: ignore[misc]  # its fields are the request's
    """One training. `analyst` is for an owner who pays from an analyst's share."""


@router.post("/models", status_code=202)
@allow(Role.OWNER, Role.ANALYST)
async def train(
    request: Request, body: TrainBody, idempotency_key: IdempotencyKey = None
) -> dict[str, Any]:
    """Start training a classifier on a table; follow the job, then download the model."""
    paid = PaidAsk.of(request, body, idempotency_key)
    # What can be refused is refused here, not in the queue of long jobs.
    await planned(request, lambda curator: _price(curator, body, paid))
    return await run_in_threadpool(
        submit_paid,
        request,
        paid,
        models_of(request),
        "discreet.server.features.learn.in_child:train",
        asked=body.given(LearnFields) | paid.charged,
    )


@router.post("/models/explain")
@allow(Role.OWNER, Role.ANALYST)
async def explain(request: Request, body: TrainBody) -> dict[str, Any]:
    """Say what a model would cost and what it would be learned from; spends nothing."""
    # Who asks for the price may well say yes.
    await run_in_threadpool(context_of(request).children.warm)
    paid = PaidAsk.of(request, body)
    return await planned(request, lambda curator: _price(curator, body, paid))


def _price(curator: Curator, body: TrainBody, paid: PaidAsk) -> dict[str, Any]:
    """Return plan and price; refuses what would be refused, spends nothing, reads no row."""
    asked = body.given(LearnFields)
    plan, price = foreseen(curator, paid, LearnRequest.of, asked, planned_training)
    return finite(
        price
        | {
            "table": plan.outline.table.name,
            "model": chosen(plan.request.model, plan.look.budget.whole),
            "features": [item.name for item in plan.outline.items[:-1]],
            "notices": list(plan.outline.notices),
            "rows_needed": plan.rows_needed(),
        }
    )


@router.get("/models")
@allow(Role.OWNER, Role.ANALYST)
def mine(request: Request) -> dict[str, Any]:
    """List the models that you may use, latest first."""
    found = models_of(request).all(caller(request).sees)
    return {"models": [model.to_json() for model in found]}


@router.get("/models/{model_id}")
@allow(Role.OWNER, Role.ANALYST)
def look(request: Request, model_id: Id) -> dict[str, Any]:
    """Say what one model is."""
    return kept_for(request, models_of, model_id).to_json()


@router.get("/models/{model_id}/model.zip", response_class=Response)
@allow(Role.OWNER, Role.ANALYST)
def download(request: Request, model_id: Id) -> FileResponse:
    """Download a model with its card, free of charge."""
    model = kept_for(request, models_of, model_id)
    name = f"{model.table}-{model.target}-{model.kind}.zip"
    return FileResponse(**models_of(request).download(model, FILE, saved_as=name))


@router.delete("/models/{model_id}", status_code=204)
@allow(Role.OWNER, Role.ANALYST)
def delete(request: Request, model_id: Id) -> Response:
    """Delete a model; what it cost stays spent."""
    models_of(request).remove(kept_for(request, models_of, model_id))
    return Response(status_code=204)
