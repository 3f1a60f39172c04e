"""Recommenders over HTTP: priced, learned as a job, kept, and free to use for any viewer."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, Response
from pydantic import Field

from discreet.api import Curator
from discreet.core.requests.learn import RecommendFields
from discreet.errors import InvalidInput
from discreet.learn.model_files.model_zip import read_model
from discreet.learn.recommend.model import Recommender
from discreet.learn.recommend.run import RecommendRequest, planned_recommender
from discreet.server.access.auth import Id, allow, api_router, caller
from discreet.server.access.tokens import Role
from discreet.server.asking.paid import PaidAsk, foreseen, kept_for, submit_paid
from discreet.server.asking.request_id import IdempotencyKey
from discreet.server.bodies.request_body import body_of
from discreet.server.context import kept_once
from discreet.server.features.learn.shelf import RECOMMENDER, Recommenders
from discreet.server.jobs.long_calls import planned
from discreet.server.plain_json import Body, finite

router = api_router("recommenders")


recommenders_of = kept_once(lambda settings: Recommenders(settings.state_folder))

_Fields: Any = body_of(RecommendFields)


class RecommenderBody(_Fields):  # type: ignore[misc]  # its fields are the request's
    """One recommender: which column says what was rated, and which how it was liked."""


class ViewerBody(Body):
    """What a viewer, who may be made up, thinks of some items: `{"12": 5, "40": 1}`."""

    ratings: dict[Annotated[str, Field(max_length=400)], float] = Field(
        min_length=1, max_length=1000
    )


@router.post("/recommenders", status_code=202)
@allow(Role.OWNER, Role.ANALYST)
async def learn_recommender(
    request: Request, body: RecommenderBody, idempotency_key: IdempotencyKey = None
) -> dict[str, Any]:
    """Start learning from everybody's ratings; follow the job, then ask for any viewer."""
    paid = PaidAsk.of(request, body, idempotency_key)
    # What can be refused is refused here, not in the queue of long jobs.
    await planned(request, lambda curator: _price(curator, body, paid))
    return await run_in_threadpool(
        submit_paid,
        request,
        paid,
        recommenders_of(request),
        "discreet.server.features.learn.in_child:recommend",
        asked=body.given(RecommendFields) | paid.charged,
    )


@router.post("/recommenders/explain")
@allow(Role.OWNER, Role.ANALYST)
async def explain_recommender(request: Request, body: RecommenderBody) -> dict[str, Any]:
    """Say what a recommender would cost; spends nothing."""
    paid = PaidAsk.of(request, body)
    return await planned(request, lambda curator: _price(curator, body, paid))


def _price(curator: Curator, body: RecommenderBody, paid: PaidAsk) -> dict[str, Any]:
    asked, request_of = body.given(RecommendFields), RecommendRequest.of
    plan, price = foreseen(curator, paid, request_of, asked, planned_recommender)
    return finite(price | {"table": plan.look.table, "items": plan.item.values})


@router.get("/recommenders")
@allow(Role.OWNER, Role.ANALYST)
def my_recommenders(request: Request) -> dict[str, Any]:
    """List the recommenders that you may use, latest first."""
    found = recommenders_of(request).all(caller(request).sees)
    return {"recommenders": [each.to_json() for each in found]}


@router.post("/recommenders/{recommender_id}/for")
@allow(Role.OWNER, Role.ANALYST)
def recommend_for(request: Request, recommender_id: Id, body: ViewerBody) -> dict[str, Any]:
    """Recommend to a viewer, who may be made up: reads no private data, costs nothing."""
    kept = kept_for(request, recommenders_of, recommender_id)
    model = read_model(recommenders_of(request).file(kept, RECOMMENDER))
    if not isinstance(model, Recommender):
        raise InvalidInput("This is a model, but no recommender.")
    best = model.recommend(body.ratings)
    return {"recommended": [{"item": name, "rating": value} for name, value in best]}


@router.get("/recommenders/{recommender_id}/recommender.zip", response_class=Response)
@allow(Role.OWNER, Role.ANALYST)
def download_recommender(request: Request, recommender_id: Id) -> FileResponse:
    """Download a recommender with its card, free of charge."""
    kept = kept_for(request, recommenders_of, recommender_id)
    name = f"{kept.table.rpartition('.')[2]}-recommender.zip"
    return FileResponse(**recommenders_of(request).download(kept, RECOMMENDER, saved_as=name))


@router.delete("/recommenders/{recommender_id}", status_code=204)
@allow(Role.OWNER, Role.ANALYST)
def delete_recommender(request: Request, recommender_id: Id) -> Response:
    """Delete a recommender; what it cost stays spent."""
    recommenders_of(request).remove(kept_for(request, recommenders_of, recommender_id))
    return Response(status_code=204)
