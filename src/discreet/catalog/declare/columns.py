"""Declarations of columns in the text of a discreet.toml: accepted, hidden or changed in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from discreet.catalog.declare.compose import setting
from discreet.catalog.declare.proposal import Setting
from discreet.catalog.declare.sections import (
    checked,
    entries_of,
    inside,
    parsed,
    said_anew,
    sections_of,
)

ColumnSettings: TypeAlias = Mapping[str, Setting]


def with_columns(
    text: str,
    dataset: str,
    table: str,
    columns: Mapping[str, Callable[[ColumnSettings], ColumnSettings]],
) -> str:
    """Return `text` in which each of these columns is declared as its function changes it."""
    place = ("datasets", dataset, "tables", table, "columns")
    wanted = parsed(text)
    declared = inside(wanted, place)
    lines = text.splitlines(keepends=True)
    for section in reversed([s for s in sections_of(lines) if s.path == place]):
        body = lines[section.first + 1 : section.last]
        for first, last, name in reversed(list(entries_of(body))):
            if name in columns and isinstance(declared.get(name), dict):
                new = columns[name](as_settings(declared[name]))
                body[first:last] = said_anew(body[first:last], setting(name, new))
        lines[section.first + 1 : section.last] = body
    for name, change in columns.items():
        declared[name] = _read_back(change(as_settings(declared.get(name, {}))))
    return checked("".join(lines), wanted)


def declared_settings(text: str, dataset: str, table: str) -> dict[str, ColumnSettings]:
    """Return the settings of a table's columns as they are written."""
    found = inside(parsed(text), ("datasets", dataset, "tables", table, "columns"))
    return {name: as_settings(settings) for name, settings in found.items()}


def accepted(settings: ColumnSettings) -> ColumnSettings:
    """Return the declaration without its mark: the owner says that it is public knowledge."""
    return {key: value for key, value in settings.items() if key != "review"}


def hidden(_settings: ColumnSettings) -> ColumnSettings:
    """Return the declaration of a column that nobody can ask about."""
    return {"type": "text", "hidden": True}


def as_settings(raw: Mapping[str, Any]) -> ColumnSettings:
    """Return parsed settings in the kinds that are written to a file."""
    return {key: _setting(value) for key, value in raw.items()}


def _setting(value: Any) -> Setting:
    if isinstance(value, list):
        return tuple(str(item) for item in value)
    if isinstance(value, dict):
        return {key: tuple(str(item) for item in items) for key, items in value.items()}
    setting: Setting = value
    return setting


def _read_back(settings: ColumnSettings) -> dict[str, Any]:
    """Return the settings as the parser will read them."""
    found: dict[str, Any] = parsed(setting("x", settings))["x"]
    return found
