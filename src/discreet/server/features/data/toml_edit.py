"""Small changes to the text of a discreet.toml that leave all the rest of it as it was written.

Each change is checked against what the parser says before and after: if anything but the wanted
settings would differ, nothing is changed and the owner is asked to edit the file by hand.
"""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.catalog.declare import toml_text as toml
from discreet.errors import CatalogError

Amounts: TypeAlias = Mapping[str, Decimal | Fraction]
"""Settings by name: epsilon and perhaps delta."""

_ASSIGNED = re.compile(r"(\s*(epsilon|delta)\s*=\s*)[^#\s]+(.*\n?)")


@dataclass(frozen=True, slots=True)
class _Section:
    """Lines `first` to `last` (not included) under one [heading]."""

    path: tuple[str, ...]
    first: int
    last: int


def with_section(text: str, section: str) -> str:
    """Return `text` with one more section at its end."""
    start = text.rstrip("\n")
    return f"{start}\n\n{section}" if start else section


def with_amounts(text: str, place: tuple[str, ...], amounts: Amounts) -> str:
    """Return `text` with these settings in the section [place]."""
    lines = text.splitlines(keepends=True)
    found = [section for section in _sections(lines) if section.path == place]
    wanted = _parsed(text)
    _inside(wanted, place).update(_values(amounts))
    if len(found) == 1:
        first, last = found[0].first + 1, found[0].last
        lines[first:last] = _with_values(lines[first:last], amounts)
    return _checked("".join(lines), wanted)


def with_share(text: str, analyst: str, dataset: str, amounts: Amounts | None) -> str:
    """Return `text` in which the analyst has this share of the dataset; None takes it away."""
    wanted = _parsed(text)
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
    for section in reversed([s for s in _sections(lines) if s.path[:2] == mine]):
        body = lines[section.first : section.last]
        lines[section.first : section.last] = [s for s in body if s.lstrip().startswith("#")]
    rest = "".join(lines)
    if not shares:
        return _checked(rest, wanted)
    said = ", ".join(f"{toml.key(name)} = {_inline(share)}" for name, share in shares.items())
    section_text = f"[analysts.{toml.key(analyst)}]\ndatasets = {{ {said} }}\n"
    return _checked(with_section(rest, section_text), wanted)


def _inline(share: Mapping[str, Any]) -> str:
    pairs = ", ".join(f"{name} = {_number(value)}" for name, value in share.items())
    return f"{{ {pairs} }}"


def _number(value: Any) -> str:
    return str(value) if isinstance(value, int) else toml.number(Decimal(value))


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
    return _parsed(written)


def _sections(lines: list[str]) -> Iterator[_Section]:
    heads = [(i, path) for i, line in enumerate(lines) if (path := _heading(line))]
    ends = [first for first, _ in heads[1:]] + [len(lines)]
    for (first, path), last in zip(heads, ends, strict=False):  # no heading has no end
        yield _Section(path, first, last)


def _heading(line: str) -> tuple[str, ...]:
    """Return the path of a [heading]; empty for every other line."""
    if not line.lstrip().startswith("["):
        return ()
    try:
        inner: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ()
    path: list[str] = []
    while isinstance(inner, dict) and inner:
        name = next(iter(inner))
        path.append(name)
        inner = inner[name]
    return tuple(path) if inner == {} else ()


def _inside(raw: dict[str, Any], place: tuple[str, ...]) -> dict[str, Any]:
    for name in place:
        raw = raw.setdefault(name, {})
    return raw


def _parsed(text: str) -> dict[str, Any]:
    try:
        return copy.deepcopy(tomllib.loads(text, parse_float=Decimal))
    except tomllib.TOMLDecodeError as error:
        raise CatalogError(f"discreet.toml is not valid TOML: {error}.") from None


def _checked(text: str, wanted: dict[str, Any]) -> str:
    try:
        same = tomllib.loads(text, parse_float=Decimal) == wanted
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise CatalogError(
            "This part of discreet.toml is written in a way that the server does not change.",
            hint="Edit the file by hand; the server takes it up within a second.",
        )
    return text
