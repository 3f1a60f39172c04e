"""The Data API for budgets: change or renew that of a dataset, or an analyst's share of it."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from pydantic import StrictBool

from discreet.api import renewal_of, renewed_report
from discreet.catalog.catalog import Catalog
from discreet.catalog.declare.amounts import with_share
from discreet.catalog.declare.owner_edits import with_total, without_share
from discreet.core.bill import Spent
from discreet.server.access.audit_log import AuditAction
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

    def edit(text: str, old: Catalog) -> str:
        return with_total(text, old, dataset, asked, agreed=wanted.agreed)

    changed = change(context_of(request).workspace, edit)
    before, now = (
        each.budget_of(each.dataset(dataset)) for each in (changed.before, changed.after)
    )
    found = {"budget": now.name, **Spent.declared(now).to_json()}
    found |= {"before": Spent.declared(before).to_json()}
    tell(request, AuditAction.BUDGET_CHANGED, dataset=dataset, **_change(found))
    return found


@router.post("/data/datasets/{dataset}/renewal")
@allow(Role.OWNER)
def renewal(request: Request, dataset: DatasetName) -> dict[str, Any]:
    """Renew the budget of a dataset for the present period, by its declared policy; the ledger records it."""
    changed = change(context_of(request).workspace, renewal_of(dataset))
    found = renewed_report(changed, dataset)
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

    def edit(text: str, old: Catalog) -> str:
        return with_share(text, analyst, old.dataset(dataset).name, amounts)

    changed = change(context_of(request).workspace, edit)
    old, new = changed.before, changed.after
    had = dataset in old.analysts.get(analyst, {})
    found = {"analyst": analyst, **_amounts(new, analyst, dataset)}
    found |= {"before": _amounts(old, analyst, dataset) if had else None}
    tell(request, AuditAction.SHARE_CHANGED, dataset=dataset, analyst=analyst, **_change(found))
    return found


def _amounts(catalog: Catalog, analyst: str, dataset: str) -> dict[str, float]:
    return Spent.declared(catalog.cap(analyst, catalog.dataset(dataset))).to_json()


@router.delete("/data/datasets/{dataset}/analysts/{analyst}")
@allow(Role.OWNER)
def unshare(request: Request, dataset: DatasetName, analyst: DatasetName) -> dict[str, Any]:
    """Take an analyst's share away; the ledger records it."""

    def edit(text: str, old: Catalog) -> str:
        return without_share(text, old, analyst, dataset)

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
