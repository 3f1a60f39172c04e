"""Change the budget of a dataset, or an analyst's share of it."""

from __future__ import annotations

import datetime as dt
from typing import Any

from pydantic import StrictBool

from discreet.api import renewed_report
from discreet.catalog.catalog import Catalog
from discreet.catalog.declare.amounts import with_amounts, with_share
from discreet.catalog.declare.renewals import with_renewal
from discreet.errors import InvalidInput, UnknownName
from discreet.server.features.data.change import change
from discreet.server.features.data.review.review import (
    Amount,
    AnalystShare,
    amounts_of,
    checked_share,
)
from discreet.server.plain_json import Body
from discreet.server.workspace import Workspace


class NewBudget(Body):
    """The new total of a dataset. `agreed`: the owner knows that a higher one promises less."""

    epsilon: Amount
    delta: Amount | None = None
    agreed: StrictBool = False


def set_budget(workspace: Workspace, dataset: str, wanted: NewBudget) -> dict[str, Any]:
    """Return the budget after and `before` the change, which the ledger has recorded.

    A total may be lowered at any time. One that was raised breaks what its people were promised
    before, so it needs the owner's word.
    """
    asked = amounts_of(wanted.epsilon, wanted.delta)
    before: dict[str, float] = {}

    def edit(text: str, old: Catalog) -> str:
        found = old.dataset(dataset)
        budget = old.budget_of(found)
        before.update(epsilon=float(budget.epsilon), delta=float(budget.delta))
        limits = {"epsilon": budget.epsilon.value, "delta": budget.delta.value}
        higher = any(amount > limits[name] for name, amount in asked.items())
        if higher and not wanted.agreed:
            raise InvalidInput(
                "A higher budget promises less to everybody in the data than they were promised.",
                hint="Send agreed: true if they may lose that much.",
            )
        shared = found.budget != found.name
        place = ("budgets", found.budget) if shared else ("datasets", found.name)
        return with_amounts(text, place, asked)

    new = change(workspace, edit)
    now = new.budget_of(new.dataset(dataset))
    amounts = {"epsilon": float(now.epsilon), "delta": float(now.delta)}
    return {"budget": now.name, **amounts, "before": before}


def renew(workspace: Workspace, dataset: str) -> dict[str, Any]:
    """Return what a renewal by the declared policy has changed; the ledger has recorded it."""
    done: list[tuple[Catalog, str]] = []

    def edit(text: str, old: Catalog) -> str:
        new, period = with_renewal(text, old, dataset, dt.datetime.now(dt.UTC).date())
        done.append((old, period))
        return new

    new = change(workspace, edit)
    ((old, period),) = done
    return renewed_report(old, new, dataset, period)


def set_share(
    workspace: Workspace, dataset: str, analyst: str, share: AnalystShare
) -> dict[str, Any]:
    """Return the analyst's share after and `before` the change; before a first one it is None."""
    amounts = checked_share(analyst, share)
    before: list[dict[str, float]] = []

    def edit(text: str, old: Catalog) -> str:
        if dataset in old.analysts.get(analyst, {}):
            before.append(_amounts(old, analyst, dataset))
        return with_share(text, analyst, old.dataset(dataset).name, amounts)

    new = change(workspace, edit)
    shown = {"analyst": analyst, **_amounts(new, analyst, dataset)}
    return shown | {"before": before[0] if before else None}


def _amounts(catalog: Catalog, analyst: str, dataset: str) -> dict[str, float]:
    cap = catalog.cap(analyst, catalog.dataset(dataset))
    return {"epsilon": float(cap.epsilon), "delta": float(cap.delta)}


def remove_share(workspace: Workspace, dataset: str, analyst: str) -> dict[str, Any]:
    """Take away an analyst's share; what was spent stays spent."""

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

    change(workspace, edit)
    return {"analyst": analyst, "dataset": dataset, "removed": True}
