"""Declarations of columns in the text of a discreet.toml: accepted, hidden or changed in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from discreet.catalog.declare.proposal import Setting
from discreet.catalog.declare.sections import inside, parsed, with_settings

ColumnSettings: TypeAlias = Mapping[str, Setting]


def with_columns(
    text: str,
    dataset: str,
    table: str,
    columns: Mapping[str, Callable[[ColumnSettings], ColumnSettings]],
) -> str:
    """Return `text` in which each of these columns is declared as its function changes it."""
    declared = declared_settings(text, dataset, table)
    new = {name: change(declared.get(name, {})) for name, change in columns.items()}
    return with_settings(text, _place(dataset, table), new)


def declared_settings(text: str, dataset: str, table: str) -> dict[str, ColumnSettings]:
    """Return the settings of a table's columns as they are written."""
    found = inside(parsed(text), _place(dataset, table))
    return {name: as_settings(settings) for name, settings in found.items()}


def _place(dataset: str, table: str) -> tuple[str, ...]:
    return ("datasets", dataset, "tables", table, "columns")


def accepted(settings: ColumnSettings) -> ColumnSettings:
    """Return the declaration without its mark: the owner says that it is public knowledge."""
    return {key: value for key, value in settings.items() if key != "review"}


def hidden(_settings: ColumnSettings) -> ColumnSettings:
    """Return the declaration of a column that nobody can ask about."""
    return {"type": "text", "hidden": True}


def as_settings(raw: Mapping[str, Any]) -> dict[str, Setting]:
    """Return parsed settings in the kinds that are written to a file."""
    return {key: _setting(value) for key, value in raw.items()}


def _setting(value: Any) -> Setting:
    if isinstance(value, list):
        return tuple(str(item) for item in value)
    if isinstance(value, dict):
        return {key: tuple(str(item) for item in items) for key, items in value.items()}
    setting: Setting = value
    return setting
