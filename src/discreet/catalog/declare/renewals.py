"""Grant a renewal in the text of a discreet.toml: the total rises by what was declared, and the period is noted."""

from __future__ import annotations

import datetime as dt

from discreet.catalog.catalog import Catalog
from discreet.catalog.declare.amounts import with_share
from discreet.catalog.declare.columns import as_settings
from discreet.catalog.declare.sections import inside, parsed, with_settings
from discreet.errors import CatalogError


def with_renewal(text: str, catalog: Catalog, dataset: str, day: dt.date) -> str:
    """Return the text after a renewal on `day`, in which the last period granted is its own; or refuse.

    Guarantee: total, shares and the note of the period are one text, which is written whole or not
    at all; so a period is never granted twice, and never half.
    """
    found = catalog.dataset(dataset)
    budget = catalog.budget_of(found)
    policy = budget.renewal
    if policy is None:
        raise CatalogError(
            f"The budget '{budget.name}' does not renew.",
            hint='Declare it in discreet.toml: renew = { every = "quarter", since = "2026-Q4", epsilon = 0.5, at_most = 4 }.',
        )
    period = policy.due(day)
    place = ("datasets" if found.budget == found.name else "budgets", found.budget)
    amounts = {"epsilon": budget.epsilon.value + policy.epsilon.value}
    if policy.delta.value:
        amounts["delta"] = budget.delta.value + policy.delta.value
    renew = as_settings(inside(parsed(text), place)["renew"]) | {
        "granted": (*policy.granted, period)
    }
    text = with_settings(text, place, amounts | {"renew": renew})
    if policy.share is not None:
        for analyst, caps in catalog.analysts.items():
            for name, cap in caps.items():
                if catalog.datasets[name].budget == budget.name:
                    more = {"epsilon": cap.epsilon.value + policy.share.value}
                    if cap.delta != budget.delta:
                        more["delta"] = cap.delta.value
                    text = with_share(text, analyst, name, more)
    return text
