"""Budgets and shares in the text of a discreet.toml; all the rest stays as it was written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.catalog.declare import toml_text as toml
from discreet.catalog.declare.sections import checked, inside, parsed, sections_of

Amounts: TypeAlias = Mapping[str, Decimal | Fraction]
"""Settings by name: epsilon and perhaps delta."""

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
    mine = ("analysts", analyst)
    for section in reversed([s for s in sections_of(lines) if s.path[:2] == mine]):
        body = lines[section.first : section.last]
        lines[section.first : section.last] = [s for s in body if s.lstrip().startswith("#")]
    rest = "".join(lines)
    if not shares:
        return checked(rest, wanted)
    said = ", ".join(f"{toml.key(d)} = {toml.inline_table(share)}" for d, share in shares.items())
    section_text = f"[analysts.{toml.key(analyst)}]\ndatasets = {{ {said} }}\n"
    return checked(with_section(rest, section_text), wanted)


def _with_values(lines: list[str], amounts: Amounts) -> list[str]:
    """Return the lines of a section with these settings; a comment beside one stays."""
    left, found = dict(amounts), []
    for line in lines:
        match = _ASSIGNED.fullmatch(line)
        if match is not None and match[2] in left:
            line = f"{match[1]}{toml.number(left.pop(match[2]))}{match[3]}"  # noqa: PLW2901 the line, changed
        found.append(line)
    return [f"{name} = {toml.number(value)}\n" for name, value in left.items()] + found


def _values(amounts: Amounts) -> dict[str, Any]:
    """Return the amounts as the parser will read them back."""
    written = "".join(f"{name} = {toml.number(value)}\n" for name, value in amounts.items())
    return parsed(written)
