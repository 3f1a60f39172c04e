"""Sections of a discreet.toml as text: found, changed and checked, all the rest left as it was written.

Each change is checked against what the parser says before and after: if anything but the wanted
settings would differ, nothing is changed and the owner is asked to edit the file by hand.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from discreet.errors import CatalogError


@dataclass(frozen=True, slots=True)
class TomlSection:
    """Lines `first` to `last` (not included) under one [heading]."""

    path: tuple[str, ...]
    first: int
    last: int


def sections_of(lines: list[str]) -> Iterator[TomlSection]:
    """Yield the sections of a file."""
    heads = [(i, path) for i, line in enumerate(lines) if (path := _heading(line))]
    ends = [first for first, _ in heads[1:]] + [len(lines)]
    for (first, path), last in zip(heads, ends, strict=False):  # no heading has no end
        yield TomlSection(path, first, last)


def _heading(line: str) -> tuple[str, ...]:
    """Return the path of a [heading]; empty for every other line."""
    if not line.lstrip().startswith("["):
        return ()
    inner: Any = read_toml(line)
    path: list[str] = []
    while isinstance(inner, dict) and inner:
        name = next(iter(inner))
        path.append(name)
        inner = inner[name]
    return tuple(path) if inner == {} else ()


def with_line(
    text: str, place: tuple[str, ...], name: str, said: str, wanted: dict[str, Any]
) -> str:
    """Return `text` in which a setting that stands in [place] on one line says this, and no other is changed."""
    lines = text.splitlines(keepends=True)
    for section in sections_of(lines):
        if section.path == place:
            for i in range(section.first + 1, section.last):
                if lines[i].split("=")[0].strip() == name:
                    lines[i] = f"{name} = {said}\n"
    return checked("".join(lines), wanted)


def inside(raw: dict[str, Any], place: tuple[str, ...]) -> dict[str, Any]:
    """Return the settings at a place, made where there are none."""
    for name in place:
        raw = raw.setdefault(name, {})
    return raw


def parsed(text: str) -> dict[str, Any]:
    """Return all settings of a file, numbers as they are written."""
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise CatalogError(f"discreet.toml is not valid TOML: {error}.") from None


def read_toml(text: str) -> dict[str, Any] | None:
    """Return the settings of a text, None where it is no TOML."""
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError:
        return None


def checked(text: str, wanted: dict[str, Any]) -> str:
    """Return `text` if it says exactly what is wanted; refuse otherwise."""
    if read_toml(text) != wanted:
        raise CatalogError(
            "This part of discreet.toml is written in a way that we do not change.",
            hint="Edit the file by hand; a running server takes it up within a second.",
        )
    return text
