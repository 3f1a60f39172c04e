"""The Budget page and its API: what was spent, by whom, and what is left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response

from discreet.base.bill import name_of
from discreet.curator import Curator
from discreet.data.engines.dialects import quoted
from discreet.errors import DiscreetError
from discreet.server.access.auth import GuardedRoute, allow, api_router, caller, maybe_caller
from discreet.server.access.tokens import Role
from discreet.server.bodies import answer_json
from discreet.server.feature import Feature, Place, page
from discreet.server.views import (
    FINE,
    ROUGH,
    AnalystQuery,
    CountNoise,
    budget_view,
    datasets_view,
    readable_answer,
    readable_budget,
    readable_catalog,
)
from discreet.server.workspace import context_of

router = api_router("budget")
Last = Annotated[int, Query(ge=0, le=10_000)]


@router.get("/budget")
@allow(Role.OWNER, Role.ANALYST, Role.REVIEWER)
def budget(request: Request) -> dict[str, Any]:
    """Say what is spent and left: your own share, or everything for owner and reviewer."""
    return readable_budget(request)


@router.get("/history")
@allow(Role.OWNER, Role.ANALYST, Role.REVIEWER)
def history(request: Request, last: Last = 50) -> dict[str, Any]:
    """List the latest entries of the ledger: your own charges, or all for owner and reviewer."""
    who = caller(request)
    with context_of(request).workspace.curator() as curator:
        mine = (who.analyst,) if who.role is Role.ANALYST else None
        return {"entries": curator.history(last=last, analysts=mine)}


@router.get("/answers")
@allow(Role.OWNER, Role.ANALYST)
def answers(request: Request, last: Last = 50) -> dict[str, Any]:
    """List what you have paid for: asking the same again is free while the data is the same."""
    who = caller(request)
    with context_of(request).workspace.curator() as curator:
        return {"answers": curator.history(last=last, analysts=(curator.account_of(who.analyst),))}


@router.get("/answers/{request_id}")
@allow(Role.OWNER, Role.ANALYST)
def answer(request: Request, request_id: str, analyst: AnalystQuery = None) -> JSONResponse:
    """Return one of your paid answers again, with its question, free of charge.

    An owner may name the analyst whose share paid for it.
    """
    found, question = readable_answer(request, request_id, analyst)
    return JSONResponse(answer_json(found) | {"question": question})


page_router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature((router, page_router), places=(Place("Budget", "/budget", 90, frozenset(Role)),))


@page_router.get("/budget")
@allow(Role.OWNER, Role.ANALYST, Role.REVIEWER)
def budget_page(request: Request) -> Response:
    """Show what is spent and left; needs no JavaScript."""
    entries = history(request, last=1000)["entries"]
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
