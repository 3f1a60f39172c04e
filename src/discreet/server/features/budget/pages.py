"""The Budget page: what is spent and left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from discreet.api import Curator
from discreet.core.owner import name_of
from discreet.engine.dialect.names import quoted
from discreet.errors import DiscreetError
from discreet.server.access.auth import GuardedRoute, allow, maybe_caller
from discreet.server.access.tokens import Role
from discreet.server.context import context_of
from discreet.server.feature import Feature, Place
from discreet.server.features.budget import routes
from discreet.server.readable import readable_budget, readable_catalog
from discreet.server.rendering import page
from discreet.server.views import FINE, ROUGH, CountNoise, budget_view, datasets_view

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature(
    (routes.router, router), places=(Place("Budget", "/budget", 90, frozenset(Role)),)
)


@router.get("/budget")
@allow(Role.OWNER, Role.ANALYST, Role.REVIEWER)
def budget(request: Request) -> Response:
    """Show what is spent and left; needs no JavaScript."""
    entries = routes.history(request, last=1000)["entries"]
    catalog, who = readable_catalog(request), maybe_caller(request)
    can_ask = who is not None and who.role is not Role.REVIEWER
    noise = {}
    if can_ask:
        # A price may begin a version where rows have changed: not for those who ask nothing.
        with context_of(request).workspace.curator() as curator:
            noise = count_noises(curator, datasets_view(catalog), who.analyst if who else None)
    datasets = budget_view(readable_budget(request), catalog, entries, noise)
    return page(request, "budget.html", "Budget", datasets=datasets, can_ask=can_ask)


def count_noises(
    curator: Curator, datasets: Iterable[Mapping[str, Any]], analyst: str | None
) -> dict[str, CountNoise]:
    """Return what a count of each dataset's first private table would get; spends nothing."""
    seen = curator.seen_by(analyst)
    found = {}
    for dataset in datasets:
        table = next((each["name"] for each in dataset["tables"] if not each["public"]), None)
        if table is not None:
            widths = {epsilon: _width(seen, table, epsilon, analyst) for epsilon in (ROUGH, FINE)}
            found[dataset["name"]] = CountNoise(table, widths)
    return found


def _width(curator: Curator, table: str, epsilon: str, analyst: str | None) -> float | None:
    sql = f"SELECT COUNT(*) AS n FROM {quoted(table)}"
    try:
        said = curator.explain(sql, epsilon=epsilon, analyst=name_of(analyst), fresh=True)
    except DiscreetError:  # a table that cannot be read now has no expected noise
        return None
    return said.expected_error.get("n")
