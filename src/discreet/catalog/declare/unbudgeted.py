"""A bare file that is remembered without a budget, and how the first budget is filled in."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from discreet.catalog.declare import toml_text as toml
from discreet.catalog.declare.change_file import change_file
from discreet.catalog.declare.compose import heading, setting
from discreet.catalog.declare.sections import read_toml
from discreet.catalog.read.policy_file import text_of
from discreet.core.numbers import Delta, Epsilon
from discreet.errors import CatalogError

NO_BUDGET = (
    "No budget yet: write epsilon here, the most that one person can lose over all private answers."
)
NO_UNIT = 'Whose rows these are is open: write unit = "row", or the column that names the person.'


def first_budget(epsilon: Epsilon | None, delta: Delta | None) -> Iterator[str]:
    """Yield the lines that state a budget, or say that it is missing."""
    if epsilon is None:
        yield from toml.comment(NO_BUDGET)
        return
    yield setting("epsilon", epsilon.value)
    if delta is not None and delta.value:
        yield from toml.comment(
            "Twice the delta of the first run: the ledger keeps two books, each with half of it."
        )
        yield setting("delta", delta.value)


def unit_lines(unit: str | None) -> Iterator[str]:
    """Yield the lines that say whom the budget protects, or that this is open."""
    if unit is None:
        yield from toml.comment(NO_UNIT)
        return
    yield setting("unit", unit)
    if unit != "row":
        yield from toml.comment(
            "How many rows of one person count at most, unless a query asks for another number."
        )
        yield setting("max_rows", 1)


def find_declared(place: Path, path: Path) -> tuple[str, str] | None:
    """Return dataset and name of the table whose source is this file, finished or not."""
    found = declared_in(text_of(place), place, path)
    return None if found is None else found[:2]


def fill_in(place: Path, path: Path, *, epsilon: Epsilon, delta: Delta | None, unit: str) -> None:
    """Write the first budget of a file that was remembered without one; do nothing otherwise.

    Only what we wrote ourselves is completed: a proposal that waits for its owner keeps waiting.
    """
    text = text_of(place)
    found = declared_in(text, place, path)
    if found is None:
        return
    fill = partial(_filled, found=found, epsilon=epsilon, delta=delta, unit=unit)
    if fill(text) is not None:
        change_file(place, lambda now: fill(now) or now)


def _filled(
    text: str, found: tuple[str, str, str], *, epsilon: Epsilon, delta: Delta | None, unit: str
) -> str | None:
    """Return `text` with the first budget where we left room for it; None where we did not."""
    dataset, table, source = found
    text = text.replace("\r\n", "\n")  # an editor may have changed the ends of our lines
    head = heading("datasets", dataset)
    begin = (heading("datasets", dataset, "tables", table), setting("source", source))
    gaps = {
        "\n".join((head, *first_budget(None, None))): (
            "\n".join((head, *first_budget(epsilon, delta)))
        ),
        "\n".join((*begin, *unit_lines(None))): "\n".join((*begin, *unit_lines(unit))),
    }
    if any(text.count(gap) != 1 for gap in gaps):
        return None
    for gap, line in gaps.items():
        text = text.replace(gap, line)
    return text


def declared_in(text: str, place: Path, path: Path) -> tuple[str, str, str] | None:
    """Return dataset, table and source as written of the table that `text`, of the file `place`, reads from `path`."""
    raw = read_toml(text)
    if raw is None:
        raise CatalogError(f"{place.name} cannot be read.")
    wanted = path.resolve()
    datasets = raw.get("datasets", {})
    for dataset, settings in datasets.items() if isinstance(datasets, dict) else ():
        for table, facts in settings.get("tables", {}).items():
            if (place.parent / str(facts.get("source", ""))).resolve() == wanted:
                return dataset, table, str(facts["source"])
    return None
