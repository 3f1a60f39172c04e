"""Budgets and shares in the text of a discreet.toml; all the rest stays as it was written."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.catalog.declare.compose import analyst_lines, composed, setting, settings_lines
from discreet.catalog.declare.sections import (
    checked,
    comments_of,
    entries_of,
    inside,
    parsed,
    sections_of,
    with_line,
)
from discreet.catalog.declare.toml_text import number
from discreet.errors import CatalogError

Amounts: TypeAlias = Mapping[str, Decimal | Fraction]
"""Settings by name: epsilon and perhaps delta."""
Totals: TypeAlias = Mapping[str, Decimal | Fraction | None]
"""The same, where None takes one away."""

_ASSIGNED = re.compile(r"(\s*(epsilon|delta)\s*=\s*)[^#\s]+(.*\n?)")


def with_section(text: str, section: str) -> str:
    """Return `text` with one more section at its end."""
    start = text.rstrip("\n")
    return f"{start}\n\n{section}" if start else section


def with_amounts(text: str, place: tuple[str, ...], amounts: Amounts) -> str:
    """Return `text` with these settings in the section [place]."""
    lines = text.splitlines(keepends=True)
    found = [section for section in sections_of(lines) if section.path == place]
    wanted = parsed(text)
    inside(wanted, place).update(_values(amounts))
    if len(found) == 1:
        first, last = found[0].first + 1, found[0].last
        lines[first:last] = _with_values(lines[first:last], amounts)
    return checked("".join(lines), wanted)


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
    kept = {name: value for name, value in totals.items() if value is not None}
    for dataset in own:
        place = ("datasets", dataset)
        text = _without_settings(text, place, totals.keys() - kept.keys())
        text = with_amounts(text, place, kept)
    return text


def _without_settings(text: str, place: tuple[str, ...], names: Collection[str]) -> str:
    wanted = parsed(text)
    for name in names:
        del inside(wanted, place)[name]
    lines = text.splitlines(keepends=True)
    for section in reversed([s for s in sections_of(lines) if s.path == place]):
        body = lines[section.first + 1 : section.last]
        for first, last, name in reversed(list(entries_of(body))):
            if name in names:
                body[first:last] = [f"{each}\n" for each in comments_of("".join(body[first:last]))]
        lines[section.first + 1 : section.last] = body
    return checked("".join(lines), wanted)


def with_share(text: str, analyst: str, dataset: str, amounts: Amounts | None) -> str:
    """Return `text` in which the analyst has this share of the dataset; None takes it away."""
    wanted = parsed(text)
    analysts = wanted.setdefault("analysts", {})
    shares = analysts.setdefault(analyst, {}).setdefault("datasets", {})
    shares.pop(dataset, None)
    if amounts is not None:
        shares[dataset] = _values(amounts)
    if not shares:
        del analysts[analyst]
    if not analysts:
        del wanted["analysts"]
    lines = text.splitlines(keepends=True)
    mine = [s for s in sections_of(lines) if s.path[:2] == ("analysts", analyst)]
    entries = [name for s in mine for _, _, name in entries_of(lines[s.first + 1 : s.last])]
    if shares and [s.path for s in mine] == [("analysts", analyst)] and entries == ["datasets"]:
        return with_line(text, ("analysts", analyst), setting("datasets", shares), wanted)
    for section in reversed(mine):
        body = "".join(lines[section.first : section.last])
        lines[section.first : section.last] = [f"{each}\n" for each in comments_of(body)]
    rest = "".join(lines)
    if not shares:
        return checked(rest, wanted)
    return checked(with_section(rest, composed(analyst_lines(analyst, shares))), wanted)


def _with_values(lines: list[str], amounts: Amounts) -> list[str]:
    """Return the lines of a section with these settings; a comment beside one stays."""
    left, found = dict(amounts), []
    for line in lines:
        match = _ASSIGNED.fullmatch(line)
        if match is not None and match[2] in left:
            line = f"{match[1]}{number(left.pop(match[2]))}{match[3]}"  # noqa: PLW2901 the line, changed
        found.append(line)
    return [f"{setting(name, value)}\n" for name, value in left.items()] + found


def _values(amounts: Amounts) -> dict[str, Any]:
    """Return the amounts as the parser will read them back."""
    return parsed("\n".join(settings_lines(amounts)))
