"""Budgets and shares in the text of a discreet.toml; all the rest stays as it was written."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from discreet.catalog.declare.compose import analyst_lines, composed, settings_lines
from discreet.catalog.declare.sections import (
    checked,
    comments_of,
    entries_of,
    parsed,
    sections_of,
    with_settings,
)
from discreet.errors import CatalogError

Amounts: TypeAlias = Mapping[str, Decimal | Fraction]
"""Settings by name: epsilon and perhaps delta."""
Totals: TypeAlias = Mapping[str, Decimal | Fraction | None]
"""The same, where None takes one away."""


def with_section(text: str, section: str) -> str:
    """Return `text` with one more section at its end."""
    start = text.rstrip("\n")
    return f"{start}\n\n{section}" if start else section


def with_totals(text: str, totals: Totals) -> str:
    """Return `text` in which every dataset with a budget of its own has these totals in place of those it states.

    Refuses where there is no such dataset, or where one does not state what shall be replaced.
    """
    datasets = parsed(text).get("datasets", {}).items()
    own = [name for name, settings in datasets if "budget" not in settings]
    stated = [totals.keys() <= settings.keys() for name, settings in datasets if name in own]
    if not own or not all(stated):
        raise CatalogError(
            f"A dataset does not state {' and '.join(totals)}, which were to change."
        )
    for dataset in own:
        text = with_settings(text, ("datasets", dataset), totals)
    return text


def with_share(text: str, analyst: str, dataset: str, amounts: Amounts | None) -> str:
    """Return `text` in which the analyst has this share of the dataset; None takes it away."""
    wanted = parsed(text)
    analysts = wanted.setdefault("analysts", {})
    shares = analysts.setdefault(analyst, {}).setdefault("datasets", {})
    shares.pop(dataset, None)
    if amounts is not None:
        shares[dataset] = parsed("\n".join(settings_lines(amounts)))
    if not shares:
        del analysts[analyst]
    if not analysts:
        del wanted["analysts"]
    lines = text.splitlines(keepends=True)
    mine = [s for s in sections_of(lines) if s.path[:2] == ("analysts", analyst)]
    entries = [name for s in mine for _, _, name in entries_of(lines[s.first + 1 : s.last])]
    if shares and [s.path for s in mine] == [("analysts", analyst)] and entries == ["datasets"]:
        return with_settings(text, ("analysts", analyst), {"datasets": shares})
    for section in reversed(mine):
        body = "".join(lines[section.first : section.last])
        lines[section.first : section.last] = [f"{each}\n" for each in comments_of(body)]
    rest = "".join(lines)
    if not shares:
        return checked(rest, wanted)
    return checked(with_section(rest, composed(analyst_lines(analyst, shares))), wanted)
