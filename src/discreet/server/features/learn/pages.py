"""The Models page: a form with its price, and one line a model, whose card opens in place."""

from __future__ import annotations

import time
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup

from discreet.server.access.auth import GuardedRoute, allow, caller
from discreet.server.access.tokens import Role
from discreet.server.features.learn.routes import models_of, whose
from discreet.server.features.learn.shelf import KeptModel, Models
from discreet.server.features.query import catalog_routes as catalog_api
from discreet.server.rendering import page
from discreet.server.views import datasets_view

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)

WORDS = {
    "auto": "What did best on other data: boosted, or naive Bayes without delta.",
    "logistic": "One weight for each group of each column.",
    "boosted": "The same, and then pairs of columns.",
    "bayes": "Counts each column by class, once. Quickest.",
    "network": "A small neural network, trained by noisy steps. Needs delta.",
}


@router.get("/models")
@allow(Role.OWNER, Role.ANALYST)
def models(request: Request) -> Response:
    """Show what can be predicted, the price of a model, and the models there are."""
    catalog = catalog_api.catalog(request)
    datasets = datasets_view(catalog)
    shelf = models_of(request)
    return page(
        request,
        "models.html",
        "Models",
        datasets=datasets,
        tables=(tables := tables_view(catalog)),
        epsilon=_start(datasets, tables),
        methods=[{"name": name, "words": words} for name, words in WORDS.items()],
        analysts=catalog.get("analysts", []),
        models=[model_view(shelf, model) for model in shelf.all(whose(caller(request)))],
    )


def _start(datasets: list[dict[str, Any]], tables: list[dict[str, Any]]) -> str:
    """Return what the form begins with: a part of what its first table has left, never all."""
    first = str(tables[0]["value"]).partition(".")[0] if tables else ""
    return next((str(each["start"]) for each in datasets if each["name"] == first), "")


def tables_view(catalog: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the private tables, each with the columns that have classes."""
    found = []
    for dataset, facts in catalog["datasets"].items():
        for name, table in facts["tables"].items():
            targets = [column for column, its in table["columns"].items() if _has_classes(its)]
            if not table["public"] and targets:
                found.append({"name": name, "value": f"{dataset}.{name}", "targets": targets})
    return found


def _has_classes(column: dict[str, Any]) -> bool:
    few = 1 < column.get("size", 0) <= 60
    return few or bool(column["type"] == "boolean")


def model_view(shelf: Models, model: KeptModel) -> dict[str, Any]:
    """Return one model as the page lists it."""
    return model.to_json() | {
        "right": f"{model.accuracy:.1%}",
        "interval": f"{model.low:.1%} to {model.high:.1%}",
        "guess": f"{model.baseline:.1%}",
        "when": time.strftime("%Y-%m-%d %H:%M", time.gmtime(model.created)),
        "who": model.analyst or "owner",
        "path": f"/api/v1/models/{model.id}/model.zip",
        "card": Markup(shelf.part(model)),  # noqa: S704  # made by us, every text escaped
    }
