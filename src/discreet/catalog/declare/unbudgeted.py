"""A bare file that is remembered without a budget, and how the first budget is filled in."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from discreet.catalog.declare import toml_text as toml
from discreet.catalog.read.policy_file import loads
from discreet.catalog.write import write_over
from discreet.core.numbers import Delta, Epsilon
from discreet.errors import CatalogError

NO_BUDGET = (
    "No budget yet: write epsilon here, the most that one person can lose over all private answers."
)
NO_UNIT = 'Whose rows these are is open: write unit = "row", or the column that names the person.'


def toml_header(dataset: str, table: str | None = None) -> str:
    """Return the line that begins a dataset, or one of its tables."""
    place = f"datasets.{toml.key(dataset)}"
    return f"[{place}]" if table is None else f"[{place}.tables.{toml.key(table)}]"


def budget_lines(epsilon: Epsilon | None, delta: Delta | None) -> Iterator[str]:
    """Yield the lines that state a budget, or say that it is missing."""
    if epsilon is None:
        yield from toml.comment(NO_BUDGET)
        return
    yield f"epsilon = {toml.number(epsilon.value)}"
    if delta is not None and delta.value:
        yield from toml.comment(
            "Twice the delta of the first run: the ledger keeps two books, each with half of it."
        )
        yield f"delta = {toml.number(delta.value)}"


def unit_lines(unit: str | None) -> Iterator[str]:
    """Yield the lines that say whom the budget protects, or that this is open."""
    if unit is None:
        yield from toml.comment(NO_UNIT)
        return
    yield f"unit = {toml.text(unit)}"
    if unit != "row":
        yield from toml.comment("The most rows of one person that count.")
        yield "max_rows = 1"


def find_declared(place: Path, path: Path) -> str | None:
    """Return dataset.table of the table whose source is this file, finished or not."""
    found = _found(_raw(place), place.parent, path)
    return None if found is None else f"{found[0]}.{found[1]}"


def fill_in(place: Path, path: Path, *, epsilon: Epsilon, delta: Delta | None, unit: str) -> None:
    """Write the first budget of a file that was remembered without one; do nothing otherwise.

    Only what we wrote ourselves is completed: a proposal that waits for its owner keeps waiting.
    """
    found = _found(_raw(place), place.parent, path)
    if found is None:
        return
    text = place.read_text(encoding="utf-8")
    dataset, table, source = found
    head = toml_header(dataset)
    begin = (toml_header(dataset, table), f"source = {toml.text(source)}")
    gaps = {
        "\n".join((head, *budget_lines(None, None))): (
            "\n".join((head, *budget_lines(epsilon, delta)))
        ),
        "\n".join((*begin, *unit_lines(None))): "\n".join((*begin, *unit_lines(unit))),
    }
    if any(text.count(gap) != 1 for gap in gaps):
        return
    for gap, line in gaps.items():
        text = text.replace(gap, line)
    loads(text, base=place.parent)  # what we write must read back
    write_over(place, text)


def _raw(place: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(place.read_text(encoding="utf-8-sig"), parse_float=Decimal)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        raise CatalogError(f"{place.name} cannot be read.") from None


def _found(raw: dict[str, Any], base: Path, path: Path) -> tuple[str, str, str] | None:
    wanted = path.resolve()
    datasets = raw.get("datasets", {})
    for dataset, settings in datasets.items() if isinstance(datasets, dict) else ():
        for table, facts in settings.get("tables", {}).items():
            if (base / str(facts.get("source", ""))).resolve() == wanted:
                return dataset, table, str(facts["source"])
    return None
