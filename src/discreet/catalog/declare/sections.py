"""Sections of a discreet.toml as text: found, changed and checked, all the rest left as it was written.

Each change is checked against what the parser says before and after: if anything but the wanted
settings would differ, nothing is changed and the owner is asked to edit the file by hand.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from discreet.catalog.declare.compose import setting, settings_lines
from discreet.catalog.declare.toml_text import TomlValue
from discreet.errors import CatalogError

_WORDS = re.compile(
    r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"'
    r"|'''.*?'''|'[^'\n]*'|(?P<comment>#[^\r\n]*)",
    re.DOTALL,
)
"""Texts of TOML, in which a # is a letter, and comments."""


@dataclass(frozen=True, slots=True)
class TomlSection:
    """Lines `first` to `last` (not included) under one [heading].

    Comments right above the next heading are the next section's.
    """

    path: tuple[str, ...]
    first: int
    last: int


def sections_of(lines: list[str]) -> Iterator[TomlSection]:
    """Yield the sections of a file."""
    heads = [(i, path) for i, line in enumerate(lines) if (path := _heading(line))]
    ends = [_without_comments(lines, first) for first, _ in heads[1:]] + [len(lines)]
    for (first, path), last in zip(heads, ends, strict=False):  # no heading has no end
        yield TomlSection(path, first, last)


def _without_comments(lines: list[str], end: int) -> int:
    while lines[end - 1].lstrip().startswith("#"):
        end -= 1
    return end


def comments_of(text: str) -> list[str]:
    """Return the comments of a piece of TOML, each from its # to the end of its line."""
    return [found["comment"] for found in _WORDS.finditer(text) if found["comment"]]


def entries_of(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield first line, end and key of each setting; one may go over several lines."""
    at = 0
    while at < len(lines):
        if not lines[at].strip() or lines[at].lstrip().startswith("#"):
            at += 1
            continue
        end = at + 1
        while end < len(lines) and read_toml("".join(lines[at:end])) is None:
            end += 1
        found = read_toml("".join(lines[at:end]))
        if found and len(found) == 1:
            yield at, end, next(iter(found))
        at = end


def said_anew(lines: list[str], said: str) -> list[str]:
    """Return the lines of one setting, or of a heading, as they say `said`; their comments stay.

    One that stood behind it stands behind it again, those among its lines stand above it.
    """
    ending = lines[-1][len(lines[-1].rstrip("\r\n")) :] or "\n"
    above, behind = comments_of("".join(lines)), comments_of(lines[-1])
    gap = ""
    if behind:
        before = lines[-1].rstrip("\r\n").removesuffix(above.pop())
        gap = before[len(before.rstrip()) :]
    return [f"{each}{ending}" for each in above] + [f"{said}{gap}{''.join(behind)}{ending}"]


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


def with_settings(
    text: str, place: tuple[str, ...], settings: Mapping[str, TomlValue | None]
) -> str:
    """Return `text` in which [place] has these settings, a new one before all others; None takes one away."""
    wanted = parsed(text)
    there = inside(wanted, place)
    for name in settings:
        there.pop(name, None)
    there.update(parsed("\n".join(settings_lines(settings))))
    lines = text.splitlines(keepends=True)
    for section in reversed([s for s in sections_of(lines) if s.path == place]):
        body, left = lines[section.first + 1 : section.last], dict(settings)
        for first, last, name in reversed(list(entries_of(body))):
            value = left.pop(name, None)
            if value is not None:
                body[first:last] = said_anew(body[first:last], setting(name, value))
            elif name in settings:
                body[first:last] = [f"{each}\n" for each in comments_of("".join(body[first:last]))]
        added = [f"{each}\n" for each in settings_lines(left)]
        lines[section.first + 1 : section.last] = added + body
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
