"""Grant a renewal in the text of a discreet.toml: the total rises by what was declared, and the period is noted."""

from __future__ import annotations

import datetime as dt

from discreet.catalog.catalog import Catalog
from discreet.catalog.declare.amounts import with_amounts, with_share
from discreet.catalog.declare.columns import as_settings
from discreet.catalog.declare.compose import setting
from discreet.catalog.declare.sections import inside, parsed, with_line
from discreet.catalog.renewal import Renewal
from discreet.errors import CatalogError


def with_renewal(text: str, catalog: Catalog, dataset: str, day: dt.date) -> tuple[str, str]:
    """Return the text after a renewal on `day`, and the period that it is for; or refuse.

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
    text = with_amounts(text, place, amounts)
    if policy.share is not None:
        for analyst, caps in catalog.analysts.items():
            for name, cap in caps.items():
                if catalog.datasets[name].budget == budget.name:
                    more = {"epsilon": cap.epsilon.value + policy.share.value}
                    if cap.delta != budget.delta:
                        more["delta"] = cap.delta.value
                    text = with_share(text, analyst, name, more)
    return _noted(text, place, policy, period), period


def _noted(text: str, place: tuple[str, ...], policy: Renewal, period: str) -> str:
    wanted = parsed(text)
    settings = inside(wanted, place)["renew"]
    settings["granted"] = [*policy.granted, period]
    return with_line(text, place, setting("renew", as_settings(settings)), wanted)
