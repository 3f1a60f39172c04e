"""Models, choices and recommenders: price, learn, list, use, download, delete; and the Models page."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, Response
from markupsafe import Markup
from pydantic import Field

from discreet.base.requests.paid import LearnFields, RecommendFields, SelectFields
from discreet.curator import Curator
from discreet.errors import InvalidInput
from discreet.server.access.auth import GuardedRoute, Id, allow, api_router, caller
from discreet.server.access.tokens import Role
from discreet.server.bodies import Body, body_of, finite
from discreet.server.feature import Feature, Place, page
from discreet.server.features.learn.in_child import (
    FILE,
    RECOMMENDER,
    KeptModel,
    KeptRecommender,
    Models,
    Recommenders,
)
from discreet.server.jobs.long import (
    IdempotencyKey,
    LongTask,
    PaidAsk,
    foreseen,
    kept_for,
    planned,
    submit_long,
    submit_paid,
)
from discreet.server.views import datasets_view, kept_view, readable_catalog, start_of
from discreet.server.workspace import context_of, kept_once
from discreet.work.learn.learners.registry import (
    AUTO,
    AUTO_WORDS,
    CLASSIFY,
    choices,
    chosen,
    of_task,
)
from discreet.work.learn.model_files import read_model
from discreet.work.learn.recommender import (
    MOST_ITEMS,
    Recommender,
    RecommendRequest,
    planned_recommender,
)
from discreet.work.learn.select import MOST_CANDIDATES, SelectRequest, planned_choice
from discreet.work.learn.training_plan import LearnRequest, planned_training

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


choices_router = api_router("choices")
_CHILD = "discreet.server.features.learn.in_child:choose"


_ChoiceFields: Any = body_of(SelectFields)


class ChoiceBody(_ChoiceFields):  # type: ignore[misc]  # its fields are the request's
    """One choice among a column's declared values: `vote` for the most common, `price` to earn most."""


@choices_router.post("/choices", status_code=202)
@allow(Role.OWNER, Role.ANALYST)
async def choose(
    request: Request, body: ChoiceBody, idempotency_key: IdempotencyKey = None
) -> dict[str, Any]:
    """Start choosing one of a column's values; follow the job: its answer is the choice."""
    paid = PaidAsk.of(request, body, idempotency_key)
    # What can be refused is refused here, not in the queue of long jobs.
    await planned(request, lambda curator: _choice_price(curator, body, paid))
    asked = {
        "payer": paid.payer,
        "asked": body.given(SelectFields) | paid.charged,
    }
    task = LongTask(_CHILD, asked, charge=paid.request_id, payer=paid.analyst)
    return {"job": submit_long(request, task, request_id=paid.request_id).id}


@choices_router.post("/choices/explain")
@allow(Role.OWNER, Role.ANALYST)
async def explain_choice(request: Request, body: ChoiceBody) -> dict[str, Any]:
    """Say what a choice would cost and how far from the best it may lie; spends nothing."""
    paid = PaidAsk.of(request, body)
    return await planned(request, lambda curator: _choice_price(curator, body, paid))


def _choice_price(curator: Curator, body: ChoiceBody, paid: PaidAsk) -> dict[str, Any]:
    asked = body.given(SelectFields)
    plan, price = foreseen(curator, paid, SelectRequest.of, asked, planned_choice)
    said = {"table": plan.look.table, "candidates": plan.column.values, "loss95": plan.loss95}
    return finite(price | said)


recommenders_router = api_router("recommenders")


recommenders_of = kept_once(lambda settings: Recommenders(settings.state_folder))

_RecommenderFields: Any = body_of(RecommendFields)


class RecommenderBody(_RecommenderFields):  # type: ignore[misc]  # its fields are the request's
    """One recommender: which column says what was rated, and which how it was liked."""


class ViewerBody(Body):
    """What a viewer, who may be made up, thinks of some items: `{"12": 5, "40": 1}`."""

    ratings: dict[Annotated[str, Field(max_length=400)], float] = Field(
        min_length=1, max_length=1000
    )


@recommenders_router.post("/recommenders", status_code=202)
@allow(Role.OWNER, Role.ANALYST)
async def learn_recommender(
    request: Request, body: RecommenderBody, idempotency_key: IdempotencyKey = None
) -> dict[str, Any]:
    """Start learning from everybody's ratings; follow the job, then ask for any viewer."""
    paid = PaidAsk.of(request, body, idempotency_key)
    # What can be refused is refused here, not in the queue of long jobs.
    await planned(request, lambda curator: _recommender_price(curator, body, paid))
    return await run_in_threadpool(
        submit_paid,
        request,
        paid,
        recommenders_of(request),
        "discreet.server.features.learn.in_child:recommend",
        asked=body.given(RecommendFields) | paid.charged,
    )


@recommenders_router.post("/recommenders/explain")
@allow(Role.OWNER, Role.ANALYST)
async def explain_recommender(request: Request, body: RecommenderBody) -> dict[str, Any]:
    """Say what a recommender would cost; spends nothing."""
    paid = PaidAsk.of(request, body)
    return await planned(request, lambda curator: _recommender_price(curator, body, paid))


def _recommender_price(curator: Curator, body: RecommenderBody, paid: PaidAsk) -> dict[str, Any]:
    asked, request_of = body.given(RecommendFields), RecommendRequest.of
    plan, price = foreseen(curator, paid, request_of, asked, planned_recommender)
    return finite(price | {"table": plan.look.table, "items": plan.item.values})


@recommenders_router.get("/recommenders")
@allow(Role.OWNER, Role.ANALYST)
def my_recommenders(request: Request) -> dict[str, Any]:
    """List the recommenders that you may use, latest first."""
    found = recommenders_of(request).all(caller(request).sees)
    return {"recommenders": [each.to_json() for each in found]}


@recommenders_router.post("/recommenders/{recommender_id}/for")
@allow(Role.OWNER, Role.ANALYST)
def recommend_for(request: Request, recommender_id: Id, body: ViewerBody) -> dict[str, Any]:
    """Recommend to a viewer, who may be made up: reads no private data, costs nothing."""
    kept = kept_for(request, recommenders_of, recommender_id)
    model = read_model(recommenders_of(request).file(kept, RECOMMENDER))
    if not isinstance(model, Recommender):
        raise InvalidInput("This is a model, but no recommender.")
    best = model.recommend(body.ratings)
    return {"recommended": [{"item": name, "rating": value} for name, value in best]}


@recommenders_router.get("/recommenders/{recommender_id}/recommender.zip", response_class=Response)
@allow(Role.OWNER, Role.ANALYST)
def download_recommender(request: Request, recommender_id: Id) -> FileResponse:
    """Download a recommender with its card, free of charge."""
    kept = kept_for(request, recommenders_of, recommender_id)
    name = f"{kept.table.rpartition('.')[2]}-recommender.zip"
    return FileResponse(**recommenders_of(request).download(kept, RECOMMENDER, saved_as=name))


@recommenders_router.delete("/recommenders/{recommender_id}", status_code=204)
@allow(Role.OWNER, Role.ANALYST)
def delete_recommender(request: Request, recommender_id: Id) -> Response:
    """Delete a recommender; what it cost stays spent."""
    recommenders_of(request).remove(kept_for(request, recommenders_of, recommender_id))
    return Response(status_code=204)


MOST_RATINGS = 20
"""Steps of a scale that the form offers as one of ratings; the API takes up to 256."""

page_router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature(
    (router, choices_router, recommenders_router, page_router),
    places=(Place("Models", "/models", 50),),
    warm=("discreet.work.learn.training",),
)


@page_router.get("/models")
@allow(Role.OWNER, Role.ANALYST)
def models(request: Request) -> Response:
    """Show what can be predicted, the price of a model, and the models there are."""
    catalog = readable_catalog(request)
    datasets = datasets_view(catalog)
    shelf, views, sees = models_of(request), tables_view(catalog), caller(request).sees
    tables = [each for each in views if each["targets"]]
    first = str((tables or views)[0]["value"]).partition(".")[0] if views else ""
    return page(
        request,
        "models.html",
        "Models",
        datasets=datasets,
        tables=tables,
        epsilon=start_of(datasets, first),
        methods=models_to_learn(),
        analysts=catalog.get("analysts", []),
        models=[model_view(shelf, model) for model in shelf.all(sees)],
        choosers=[each for each in views if each["choices"]],
        rated=[each for each in views if each["ratings"]],
        recommenders=[recommender_view(each) for each in recommenders_of(request).all(sees)],
    )


def models_to_learn() -> list[dict[str, str]]:
    """Return the classifiers to choose from, each with a sentence."""
    found = [(name, learner.words) for name, learner in of_task(CLASSIFY).items()]
    return [{"name": name, "words": words} for name, words in [(AUTO, AUTO_WORDS), *found]]


def tables_view(catalog: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the private tables, each with the columns that can be predicted, chosen from or rated."""
    found = []
    for dataset, facts in catalog["datasets"].items():
        for name, table in facts["tables"].items():
            columns = table["columns"].items()
            view = {
                "name": name,
                "value": f"{dataset}.{name}",
                "targets": [column for column, its in columns if _has_classes(its)],
                "choices": [column for column, its in columns if _few(its, MOST_CANDIDATES)],
                "prices": [column for column, its in columns if _is_price(its)],
                "items": [column for column, its in columns if _few(its, MOST_ITEMS)],
                "ratings": [column for column, its in columns if _is_rating(its, table)],
            }
            if not table["public"] and (view["targets"] or view["choices"]):
                found.append(view)
    return found


def _has_classes(column: dict[str, Any]) -> bool:
    few = 1 < column.get("size", 0) <= 60
    return few or bool(column["type"] == "boolean")


def _few(column: dict[str, Any], most: int) -> bool:
    """Return whether each of a column's values can be a candidate of its own."""
    return 1 < _size(column) <= most


def _size(column: dict[str, Any]) -> int:
    if column["type"] == "integer" and column["reviewed"]:
        return int(column["upper"] - column["lower"] + 1)
    return 2 if column["type"] == "boolean" else int(column.get("size", 0))


def _is_price(column: dict[str, Any]) -> bool:
    return column["type"] in ("integer", "number") and column.get("lower", -1) >= 0


def _is_rating(column: dict[str, Any], table: dict[str, Any]) -> bool:
    """Return whether a column may hold ratings: few whole numbers, of people with several rows."""
    whole = column["type"] == "integer" and 1 < _size(column) <= MOST_RATINGS
    return whole and table["unit"].startswith("each person") and table["max_rows"] != 1


def recommender_view(kept: KeptRecommender) -> dict[str, Any]:
    """Return one recommender as the page lists it, with a made-up viewer to begin with."""
    first, second = (*kept.known_well, *kept.known_well)[:2]
    return kept_view(kept) | {
        "path": f"/api/v1/recommenders/{kept.id}/recommender.zip",
        "viewer": f"{first}={kept.high:g}, {second}={kept.low:g}",
    }


def model_view(shelf: Models, model: KeptModel) -> dict[str, Any]:
    """Return one model as the page lists it."""
    return kept_view(model) | {
        "right": f"{model.accuracy:.1%}",
        "interval": f"{model.low:.1%} to {model.high:.1%}",
        "guess": f"{model.baseline:.1%}",
        "path": f"/api/v1/models/{model.id}/model.zip",
        "card": Markup(shelf.part(model)),  # noqa: S704  # made by us, every text escaped
    }
