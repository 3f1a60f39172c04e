"""Datasets in the text of a discreet.toml: removed or renamed.

All the rest of the file stays as it was written.
"""

from __future__ import annotations

from collections.abc import Collection

from discreet.catalog.declare.compose import heading, setting
from discreet.catalog.declare.sections import (
    checked,
    entries_of,
    inside,
    parsed,
    said_anew,
    sections_of,
)
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
    lines, moved = _renamed_lines(text.splitlines(keepends=True), old, new, promised)
    if promised:
        lines += ["\n", f"{heading('budgets', old)}\n", *moved]
    return checked("".join(lines), wanted)


def _renamed_lines(
    lines: list[str], old: str, new: str, promised: Collection[str]
) -> tuple[list[str], list[str]]:
    """Return the lines under the new name, and those of the promise, which move to its budget."""
    moved: list[str] = []
    for section in reversed(list(sections_of(lines))):
        if section.path[:2] != ("datasets", old):
            continue
        body = lines[section.first + 1 : section.last]
        if len(section.path) == 2 and promised:
            for first, last, name in reversed(list(entries_of(body))):
                if name in promised:
                    moved[:0] = body[first:last]
                    del body[first:last]
            body.insert(0, f"{setting('budget', old)}\n")
        head = said_anew([lines[section.first]], heading("datasets", new, *section.path[2:]))
        lines[section.first : section.last] = [*head, *body]
    return lines, moved
