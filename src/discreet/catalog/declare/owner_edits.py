"""What an owner changes of data sets that are declared, in the text of a discreet.toml; refused where a promise would break.

A name takes its shares along, a total rises by the owner's word alone, and the last share is not taken away by the way.
"""

from __future__ import annotations

from discreet.catalog.catalog import Catalog
from discreet.catalog.declare.amounts import Amounts, with_share
from discreet.catalog.declare.datasets import with_new_name, without_dataset
from discreet.catalog.declare.sections import with_settings
from discreet.errors import InvalidInput, UnknownName


def renamed_with_shares(text: str, old: Catalog, dataset: str, name: str) -> str:
    """Return `text` in which a dataset has another name, and analysts their shares of it."""
    found = old.dataset(dataset).name
    shares = _shares(old, found)
    text = with_new_name(_unshared(text, shares, found), found, name)
    for analyst, amounts in shares.items():
        text = with_share(text, analyst, name, amounts)
    return text


def removed_with_shares(text: str, old: Catalog, dataset: str) -> str:
    """Return `text` without a dataset and all shares of it, unless no analyst would have one of any other."""
    found = old.dataset(dataset).name
    shares = _shares(old, found)
    last = [analyst for analyst in shares if set(old.analysts[analyst]) == {found}]
    if shares and len(last) == len(old.analysts) and len(old.datasets) > 1:
        raise InvalidInput(
            "Without this data set nobody would have a share, and every question would be the "
            "owner's, limited by the totals alone.",
            hint="Give an analyst a share of another data set first.",
        )
    return without_dataset(_unshared(text, shares, found), found)


def with_total(text: str, old: Catalog, dataset: str, amounts: Amounts, *, agreed: bool) -> str:
    """Return `text` with another total of a dataset, or of the budget that it draws on.

    Lower at any time; one that is raised breaks a promise, so it needs the owner's word.
    """
    found = old.dataset(dataset)
    budget = old.budget_of(found)
    limits = {"epsilon": budget.epsilon.value, "delta": budget.delta.value}
    higher = any(amount > limits[name] for name, amount in amounts.items())
    if higher and not agreed:
        raise InvalidInput(
            "A higher budget promises less to everybody in the data than they were promised.",
            hint="Send agreed: true if they may lose that much.",
        )
    shared = found.budget != found.name
    place = ("budgets", found.budget) if shared else ("datasets", found.name)
    return with_settings(text, place, amounts)


def without_share(text: str, old: Catalog, analyst: str, dataset: str) -> str:
    """Return `text` in which an analyst has no share of a dataset, unless it is the last of all."""
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


def _shares(catalog: Catalog, dataset: str) -> dict[str, Amounts]:
    found: dict[str, Amounts] = {}
    for analyst, caps in catalog.analysts.items():
        if dataset in caps:
            cap = caps[dataset]
            delta = {"delta": cap.delta.value} if cap.delta.value else {}
            found[analyst] = {"epsilon": cap.epsilon.value} | delta
    return found


def _unshared(text: str, analysts: dict[str, Amounts], dataset: str) -> str:
    for analyst in analysts:
        text = with_share(text, analyst, dataset, None)
    return text
