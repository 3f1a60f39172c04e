"""How the columns of a table become features and target: fine public cells, from the catalog alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from discreet.core.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    IntegerDomain,
    NumberDomain,
    TimestampDomain,
)
from discreet.errors import InvalidInput, UnknownName
from discreet.synth.columns import MOST_CODES, MOST_SINGLE, Coded, Encoding, MadeUp, too_many
from discreet.synth.learn_ranges import first_cells
from discreet.synth.outline import Item, Outline

MOST_CLASSES = 256

EQUAL_CELLS = 64
"""Cells of equal width beside those that grow with the distance from zero."""

DAY_CELLS = 128


def chosen_items(outline: Outline, target: str, features: Sequence[str]) -> tuple[Item, ...]:
    """Return the columns that are read: the features, and last the target."""
    known = {item.name.lower(): item for item in outline.items if not isinstance(item, MadeUp)}
    for name in (target, *features):
        if name.lower() not in known:
            raise UnknownName(
                f"Column '{name[:60]}' of table '{outline.table.name}' is not declared, or cannot be "
                "learned from.",
                hint=f"Columns: {', '.join(item.name for item in known.values())}.",
            )
    wanted = [name.lower() for name in features] or [n for n in known if n != target.lower()]
    if not wanted:
        raise InvalidInput("There is no column to predict from beside the target.")
    return (*(_feature(known[name]) for name in wanted), known[target.lower()])


def is_ordered(column: Coded) -> bool:
    """Return whether neighbouring codes are alike."""
    return not isinstance(column.domain, BooleanDomain | CategoryDomain)


def _feature(item: Item) -> Item:
    """Return a feature whose gaps have a code, and whose numbers are divided finely."""
    if not isinstance(item, Coded):
        return item
    column = replace(item, missing=True)
    if isinstance(item.domain, BooleanDomain | CategoryDomain):
        if column.size > MOST_CODES:
            raise too_many(column.name, column.values)
        return column
    if column.positions <= MOST_SINGLE:
        return column
    return replace(column, edges=fine_cells(column))


def fine_cells(column: Coded) -> tuple[int, ...]:
    """Return the first positions of public cells: equal ones, and eight to each doubling from zero.

    So both 36.0 to 42.0 degrees and incomes from nothing to millions are divided well.
    """
    positions = column.positions
    if isinstance(column.domain, DateDomain | TimestampDomain):
        return tuple(range(0, positions, -(-positions // DAY_CELLS)))
    assert isinstance(column.domain, IntegerDomain | NumberDomain)
    equal = range(0, positions, -(-positions // EQUAL_CELLS))
    return tuple(sorted({*equal, *first_cells(column.domain)}))


def as_feature(column: Coded) -> Coded:
    """Return a column whose domain was learned as a feature."""
    return replace(column, missing=True)


def check_target(item: Item) -> None:
    """Refuse, before anything is paid, a target whose classes cannot be told."""
    if not isinstance(item, Coded):
        if isinstance(getattr(item, "domain", None), IntegerDomain | NumberDomain):
            raise _numbers(item.name)
        return
    if isinstance(item.domain, NumberDomain | DateDomain | TimestampDomain) or item.edges:
        raise _numbers(item.name)
    if item.values < 2:
        raise InvalidInput(
            f"The target '{item.name}' has one declared value only: there is nothing to predict.",
            hint="Declare all the values that it can have. Nothing was charged.",
        )
    if item.values > MOST_CLASSES:
        raise InvalidInput(
            f"The target '{item.name}' has {item.values:,} declared values; at most "
            f"{MOST_CLASSES} classes can be learned.",
            hint="Group the values in the source, or use discreet learn regress for a number.",
        )


def _numbers(name: str) -> InvalidInput:
    return InvalidInput(
        f"The target '{name}' is a number with many values, not a class.",
        hint="Use discreet learn regress, or declare the classes in discreet.toml.",
    )


def encoding_of(table: str, features: Sequence[Coded], target: Coded) -> Encoding:
    """Return the features, and last the target: rows without a target are left out."""
    return Encoding(table, (*map(as_feature, features), replace(target, missing=False)))
