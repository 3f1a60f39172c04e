"""The text of declarations: engine, ledger, datasets, tables and analysts, each section in one form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from discreet.catalog.declare import toml_text as toml
from discreet.catalog.declare.proposal import ENGINE, LEDGER
from discreet.catalog.declare.toml_text import TomlValue, WrittenTable


def composed(*parts: Iterable[str]) -> str:
    """Return the text of a file with these parts, a blank line between them."""
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def heading(*path: str) -> str:
    """Return the line that begins a section.

    >>> heading("datasets", "my shop")
    '[datasets."my shop"]'
    """
    return f"[{'.'.join(toml.key(part) for part in path)}]"


def setting(name: str, value: TomlValue, note: str = "") -> str:
    """Return the line, or the lines, of one setting, with a note behind it.

    >>> setting("accepted", True, "unseen")
    'accepted = true  # unseen'
    """
    said = f"{toml.key(name)} = {toml.value(value)}"
    return f"{said}  # {note}" if note else said


def settings_lines(settings: Mapping[str, TomlValue | None]) -> list[str]:
    """Return the lines of settings; what is None is left out."""
    return [setting(name, value) for name, value in settings.items() if value is not None]


def engine_and_ledger(engine: str = ENGINE, ledger: str = LEDGER) -> list[str]:
    """Return [engine] and [ledger], with which every file begins."""
    return [
        heading("engine"),
        setting("url", engine),
        "",
        heading("ledger"),
        setting("url", ledger),
    ]


def dataset_lines(name: str, settings: Mapping[str, TomlValue | None]) -> list[str]:
    """Return the section of a dataset: its budget, neighbours and what else holds for all its tables."""
    return [heading("datasets", name), *settings_lines(settings)]


def table_lines(
    dataset: str,
    table: str,
    settings: Mapping[str, TomlValue | None],
    columns: Mapping[str, WrittenTable],
) -> list[str]:
    """Return the sections of a table: its source and unit, and a line for each column."""
    return [
        heading("datasets", dataset, "tables", table),
        *settings_lines(settings),
        "",
        *columns_lines(dataset, table, columns),
    ]


def columns_lines(dataset: str, table: str, columns: Mapping[str, WrittenTable]) -> list[str]:
    """Return the section of a table's columns."""
    return [heading("datasets", dataset, "tables", table, "columns"), *settings_lines(columns)]


def analyst_lines(name: str, shares: Mapping[str, WrittenTable]) -> list[str]:
    """Return the section of an analyst: a share of each dataset."""
    return [heading("analysts", name), setting("datasets", shares)]
