"""What an owner does with budgets: renew one by its declared policy, and see which near their end."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

from discreet.api.opened import policy_of
from discreet.catalog.catalog import Catalog
from discreet.catalog.edits import with_renewal
from discreet.catalog.writer import CatalogChange, Edit, change_catalog
from discreet.core.bill import Spent
from discreet.core.owner import OWNER
from discreet.ledger.entry import alert_of, part_used
from discreet.ledger.ledger import Ledger


def alerts_of(catalog: Catalog, ledger: Ledger) -> dict[str, dict[str, Any]]:
    """Return of every budget how much of it is used, and the alert where it passed the owner's mark."""
    found: dict[str, dict[str, Any]] = {}
    for name, budget in sorted(catalog.budgets.items()):
        spent = ledger.balance(name)
        alert = alert_of(spent, budget.alert)
        found[name] = {
            "used": float(part_used(spent)),
            "mark": float(budget.alert),
            "alert": None if alert is None else alert.value,
        }
    return found


def notes_of(catalog: Catalog, ledger: Ledger) -> dict[str, list[str]]:
    """Return what people should read beside the gauge of each dataset: its end is near, it renews."""
    alerts, policies = alerts_of(catalog, ledger), renewals(catalog)
    notes: dict[str, list[str]] = {}
    for name, dataset in catalog.datasets.items():
        found, lines = alerts[dataset.budget], []
        if found["alert"] is not None:
            lines.append(f"  {found['alert']}: {found['used']:.0%} is used")
        if name in policies:
            lines.append(f"  {policies[name]['words']}")
        notes[name] = lines
    return notes


def renewals(catalog: Catalog) -> dict[str, dict[str, Any]]:
    """Return the policies of the budgets that renew, by dataset, each also in `words`."""
    found: dict[str, dict[str, Any]] = {}
    for name, dataset in catalog.datasets.items():
        budget = catalog.budget_of(dataset)
        policy = budget.renewal
        if policy is not None:
            found[name] = {
                "every": policy.every.value,
                "epsilon": float(policy.epsilon),
                "granted": list(policy.granted),
                "at_most": policy.at_most,
                "lifetime": float(policy.lifetime(budget.epsilon)),
                "words": policy.words(budget.epsilon),
            }
    return found


def renew_budget(config: Path, dataset: str, *, today: dt.date | None = None) -> dict[str, Any]:
    """Return what a renewal by the declared policy has changed; the ledger has recorded it.

    Guarantee: the file changes whole or not at all, and the ledger follows the file, here or the next time that
    anybody opens it. What was spent stays spent: only the limit rises.
    """
    changed = change_catalog(config, renewal_of(dataset, today))
    new, done = changed.after, renewed_report(changed, dataset)
    who = f"{OWNER}, renewing for {done['period']},"
    Ledger.open(new.ledger_url, policy_of(new), base=new.base, who=who).close()
    return done


def renewal_of(dataset: str, today: dt.date | None = None) -> Edit:
    """Return the change of a discreet.toml that renews a budget for the period of `today`, by its declared policy."""
    day = dt.datetime.now(dt.UTC).date() if today is None else today
    return lambda text, catalog: with_renewal(text, catalog, dataset, day)


def renewed_report(changed: CatalogChange, dataset: str) -> dict[str, Any]:
    """Return a renewal as an object for people and programs."""
    before, after = (
        each.budget_of(each.dataset(dataset)) for each in (changed.before, changed.after)
    )
    assert after.renewal is not None, "what was renewed renews"
    return {
        "budget": after.name,
        "period": after.renewal.granted[-1],
        **Spent.declared(after).to_json(),
        "before": Spent.declared(before).to_json(),
        "left": after.renewal.left,
        "lifetime": float(after.renewal.lifetime(after.epsilon)),
        "words": after.renewal.words(after.epsilon),
    }
