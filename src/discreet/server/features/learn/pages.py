"""The Models page: a form with its price, and one line a model, whose card opens in place."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup

from discreet.learn.learners import AUTO, AUTO_WORDS, CLASSIFY, of_task
from discreet.learn.recommend.run import MOST_ITEMS
from discreet.learn.select import MOST_CANDIDATES
from discreet.server.access.auth import GuardedRoute, allow, caller
from discreet.server.access.tokens import Role
from discreet.server.feature import Feature, Place
from discreet.server.features.learn import choices, recommenders, routes
from discreet.server.features.learn.recommenders import recommenders_of
from discreet.server.features.learn.routes import models_of
from discreet.server.features.learn.shelf import KeptModel, KeptRecommender, Models
from discreet.server.readable import readable_catalog
from discreet.server.rendering import page
from discreet.server.views import datasets_view, kept_view, start_of

MOST_RATINGS = 20
"""Steps of a scale that the form offers as one of ratings; the API takes up to 256."""

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature(
    (routes.router, choices.router, recommenders.router, router),
    places=(Place("Models", "/models", 50),),
    warm=("discreet.learn.run",),
)


@router.get("/models")
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
