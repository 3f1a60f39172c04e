"""Declarations of columns in the text of a discreet.toml: accepted, hidden or changed in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from discreet.catalog.declare import toml_text as toml
from discreet.catalog.declare.proposal import Setting
from discreet.catalog.declare.sections import checked, inside, parsed, read_toml, sections_of

Settings: TypeAlias = Mapping[str, Setting]


def with_columns(
    text: str,
    dataset: str,
    table: str,
    columns: Mapping[str, Callable[[Settings], Settings]],
) -> str:
    """Return `text` in which each of these columns is declared as its function changes it."""
    place = ("datasets", dataset, "tables", table, "columns")
    wanted = parsed(text)
    declared = inside(wanted, place)
    lines = text.splitlines(keepends=True)
    for section in [s for s in sections_of(lines) if s.path == place]:
        body = lines[section.first + 1 : section.last]
        for first, last, name in reversed(list(_entries(body))):
            if name in columns and isinstance(declared.get(name), dict):
                new = columns[name](as_settings(declared[name]))
                body[first:last] = [f"{toml.key(name)} = {toml.inline_table(new)}\n"]
        lines[section.first + 1 : section.last] = body
    for name, change in columns.items():
        declared[name] = _read_back(change(as_settings(declared.get(name, {}))))
    return checked("".join(lines), wanted)


def declared_settings(text: str, dataset: str, table: str) -> dict[str, Settings]:
    """Return the settings of a table's columns as they are written."""
    found = inside(parsed(text), ("datasets", dataset, "tables", table, "columns"))
    return {name: as_settings(settings) for name, settings in found.items()}


def accepted(settings: Settings) -> Settings:
    """Return the declaration without its mark: the owner says that it is public knowledge."""
    return {key: value for key, value in settings.items() if key != "review"}


def hidden(_settings: Settings) -> Settings:
    """Return the declaration of a column that nobody can ask about."""
    return {"type": "text", "hidden": True}


def _entries(lines: list[str]) -> Iterator[tuple[int, int, str]]:
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


def as_settings(raw: Mapping[str, Any]) -> Settings:
    """Return parsed settings in the kinds that are written to a file."""
    return {key: _setting(value) for key, value in raw.items()}


def _setting(value: Any) -> Setting:
    if isinstance(value, list):
        return tuple(str(item) for item in value)
    if isinstance(value, dict):
        return {key: tuple(str(item) for item in items) for key, items in value.items()}
    setting: Setting = value
    return setting


def _read_back(settings: Settings) -> dict[str, Any]:
    """Return the settings as the parser will read them."""
    found: dict[str, Any] = parsed(f"x = {toml.inline_table(settings)}")["x"]
    return found
