"""Datasets in the text of a discreet.toml: removed, renamed, or given a new source.

All the rest of the file stays as it was written.
"""

from __future__ import annotations

from typing import Any

from discreet.catalog.declare import toml_text as toml
from discreet.catalog.declare.columns import as_settings
from discreet.catalog.declare.sections import checked, inside, parsed, sections_of, with_line
from discreet.errors import CatalogError, UnknownName

_PROMISED = ("epsilon", "delta", "neighbours", "renew", "alert")


def without_dataset(text: str, name: str) -> str:
    """Return `text` without one dataset; shares of it must be gone before."""
    wanted = parsed(text)
    if name not in wanted.get("datasets", {}):
        raise UnknownName(f"There is no dataset '{name}'.")
    del wanted["datasets"][name]
    lines = text.splitlines(keepends=True)
    for section in reversed([s for s in sections_of(lines) if s.path[:2] == ("datasets", name)]):
        del lines[section.first : section.last]
    if not wanted["datasets"] and "datasets" not in parsed("".join(lines)):
        del wanted["datasets"]
    return checked("".join(lines), wanted)


def with_new_name(text: str, old: str, new: str) -> str:
    """Return `text` in which a dataset has another name and still pays from the same budget.

    Guarantee: what was spent stays spent. The ledger knows people by the name of their budget, so
        that name stays: a dataset with a budget of its own gets [budgets.OLD], and draws on it.
    """
    wanted = parsed(text)
    datasets = wanted.get("datasets", {})
    if old not in datasets:
        raise UnknownName(f"There is no dataset '{old}'.")
    if new in datasets or new in wanted.get("budgets", {}):
        raise CatalogError(f"There is a dataset or budget '{new}' already.")
    settings = datasets[old]
    promised = {key: settings.pop(key) for key in _PROMISED if key in settings}
    if promised:
        settings["budget"] = old
        inside(wanted, ("budgets", old)).update(promised)
    wanted["datasets"] = {new if name == old else name: facts for name, facts in datasets.items()}
    lines = _renamed_lines(text.splitlines(keepends=True), old, new, budget=bool(promised))
    if promised:
        lines += ["\n", f"[budgets.{toml.key(old)}]\n"]
        lines += [f"{key} = {_value(value)}\n" for key, value in promised.items()]
    return checked("".join(lines), wanted)


def with_source(text: str, dataset: str, table: str, source: str) -> str:
    """Return `text` in which a table is read from another source."""
    place = ("datasets", dataset, "tables", table)
    wanted = parsed(text)
    inside(wanted, place)["source"] = source
    return with_line(text, place, "source", toml.text(source), wanted)


def _renamed_lines(lines: list[str], old: str, new: str, *, budget: bool) -> list[str]:
    for section in reversed(list(sections_of(lines))):
        if section.path[:2] != ("datasets", old):
            continue
        body = lines[section.first + 1 : section.last]
        if len(section.path) == 2 and budget:
            body = [line for line in body if line.split("=")[0].strip() not in _PROMISED]
            body.insert(0, f"budget = {toml.text(old)}\n")
        path = ".".join(toml.key(part) for part in ("datasets", new, *section.path[2:]))
        lines[section.first : section.last] = [f"[{path}]\n", *body]
    return lines


def _value(value: Any) -> str:
    return toml.inline_table(as_settings(value)) if isinstance(value, dict) else toml.value(value)
