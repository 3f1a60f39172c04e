"""The Data API for budgets: change or renew that of a dataset, or an analyst's share of it."""

from __future__ import annotations

import datetime as dt
from typing import Any

from fastapi import Request
from pydantic import StrictBool

from discreet.api import renewed_report
from discreet.catalog.catalog import Catalog
from discreet.catalog.declare.amounts import with_share
from discreet.catalog.declare.renewals import with_renewal
from discreet.catalog.declare.sections import with_settings
from discreet.core.bill import Spent
from discreet.errors import InvalidInput, UnknownName
from discreet.server.access.audit import AuditAction
from discreet.server.access.auth import allow, api_router, tell
from discreet.server.access.tokens import Role
from discreet.server.change import change
from discreet.server.context import context_of
from discreet.server.features.data.manage_routes import DatasetName
from discreet.server.features.data.review.review import (
    Amount,
    AnalystShare,
    amounts_of,
    checked_share,
)
from discreet.server.plain_json import Body

router = api_router("data")


class NewBudget(Body):
    """The new total of a dataset. `agreed`: the owner knows that a higher one promises less."""

    epsilon: Amount
    delta: Amount | None = None
    agreed: StrictBool = False


@router.put("/data/datasets/{dataset}/budget")
@allow(Role.OWNER)
def budget(request: Request, dataset: DatasetName, wanted: NewBudget) -> dict[str, Any]:
    """Change the total of a dataset; the ledger records it."""
    asked = amounts_of(wanted.epsilon, wanted.delta)
    before: dict[str, float] = {}

    def edit(text: str, old: Catalog) -> str:
        """Lower a total at any time; one that is raised breaks a promise, so it needs the owner's word."""
        found = old.dataset(dataset)
        budget = old.budget_of(found)
        before.update(_limit(budget))
        limits = {"epsilon": budget.epsilon.value, "delta": budget.delta.value}
        higher = any(amount > limits[name] for name, amount in asked.items())
        if higher and not wanted.agreed:
            raise InvalidInput(
                "A higher budget promises less to everybody in the data than they were promised.",
                hint="Send agreed: true if they may lose that much.",
            )
        shared = found.budget != found.name
        place = ("budgets", found.budget) if shared else ("datasets", found.name)
        return with_settings(text, place, asked)

    new = change(context_of(request).workspace, edit)
    now = new.budget_of(new.dataset(dataset))
    found = {"budget": now.name, **_limit(now), "before": before}
    tell(request, AuditAction.BUDGET_CHANGED, dataset=dataset, **_change(found))
    return found


@router.post("/data/datasets/{dataset}/renewal")
@allow(Role.OWNER)
def renewal(request: Request, dataset: DatasetName) -> dict[str, Any]:
    """Renew the budget of a dataset for the present period, by its declared policy; the ledger records it."""
    done: list[tuple[Catalog, str]] = []

    def edit(text: str, old: Catalog) -> str:
        new, period = with_renewal(text, old, dataset, dt.datetime.now(dt.UTC).date())
        done.append((old, period))
        return new

    new = change(context_of(request).workspace, edit)
    ((old, period),) = done
    found = renewed_report(old, new, dataset, period)
    facts = _change(found) | {"period": found["period"]}
    tell(request, AuditAction.BUDGET_RENEWED, dataset=dataset, **facts)
    return found


@router.put("/data/datasets/{dataset}/analysts/{analyst}")
@allow(Role.OWNER)
def share(
    request: Request, dataset: DatasetName, analyst: DatasetName, wanted: AnalystShare
) -> dict[str, Any]:
    """Give an analyst a share of a dataset, or change it; the ledger records it."""
    amounts = checked_share(analyst, wanted)
    before: list[dict[str, float]] = []

    def edit(text: str, old: Catalog) -> str:
        if dataset in old.analysts.get(analyst, {}):
            before.append(_amounts(old, analyst, dataset))
        return with_share(text, analyst, old.dataset(dataset).name, amounts)

    new = change(context_of(request).workspace, edit)
    found = {"analyst": analyst, **_amounts(new, analyst, dataset)}
    found |= {"before": before[0] if before else None}
    tell(request, AuditAction.SHARE_CHANGED, dataset=dataset, analyst=analyst, **_change(found))
    return found


def _amounts(catalog: Catalog, analyst: str, dataset: str) -> dict[str, float]:
    return _limit(catalog.cap(analyst, catalog.dataset(dataset)))


def _limit(declared: Any) -> dict[str, float]:
    return Spent(declared.epsilon.value, declared.delta.value).to_json()


@router.delete("/data/datasets/{dataset}/analysts/{analyst}")
@allow(Role.OWNER)
def unshare(request: Request, dataset: DatasetName, analyst: DatasetName) -> dict[str, Any]:
    """Take an analyst's share away; the ledger records it."""

    def edit(text: str, old: Catalog) -> str:
        name = old.dataset(dataset).name
        if name not in old.analysts.get(analyst, {}):
            raise UnknownName("This analyst has no share of this dataset.")
        if len(old.analysts) == 1 and len(old.analysts[analyst]) == 1:
            raise InvalidInput(
                "This is the last share of the last analyst. Without analysts every question is "
                "the owner's, limited by the total alone.",
                hint="Add another analyst first, or edit discreet.toml by hand.",
            )
        return with_share(text, analyst, name, None)

    change(context_of(request).workspace, edit)
    tell(request, AuditAction.SHARE_REMOVED, dataset=dataset, analyst=analyst)
    return {"analyst": analyst, "dataset": dataset, "removed": True}


def _change(found: dict[str, Any]) -> dict[str, str]:
    """Return a change of limits as the audit log tells it: before and after."""
    before = found["before"]
    return {
        f"{name}_{when}": f"{side[name]:g}"
        for when, side in (("before", before), ("after", found))
        if side is not None
        for name in ("epsilon", "delta")
    }
