"""How the columns of a table become features and target: fine public cells, from the catalog alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from discreet.core.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    TextDomain,
    TimestampDomain,
)
from discreet.errors import InvalidInput, UnknownName
from discreet.plan.ir import Scan
from discreet.synth.columns import (
    MOST_CODES,
    Coded,
    Encoding,
    Item,
    MadeUpIdentifier,
    Outline,
    too_many,
)

MOST_CLASSES = 256

EQUAL_CELLS = 40
"""Cells of equal width, beside those that grow with the distance from zero."""


def chosen_items(outline: Outline, target: str, features: Sequence[str]) -> tuple[Item, ...]:
    """Return the columns that are read: the features, and last the target."""
    known = {
        item.name.lower(): item for item in outline.items if not isinstance(item, MadeUpIdentifier)
    }
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
    items = [known[name] for name in wanted]
    read = [feature_column(item) if isinstance(item, Coded) else item for item in items]
    return (*read, known[target.lower()])


def plain_columns(scan: Scan) -> dict[str, Coded]:
    """Return the columns of a table with declared values, each value a code; by name in small letters.

    What identifies, is hidden, waits for a review or is free text is not among them.
    """
    readable = {f.origin.column.name for f in scan.fields if f.origin is not None}
    unit = None if scan.table.unit is None else scan.table.unit.column
    found = {}
    for column in scan.table.columns:
        open_ = column.reviewed and not column.hidden and column.name != unit
        if not open_ or column.name not in readable:
            continue
        if not isinstance(column.domain, IdentifierDomain | TextDomain):
            found[column.name.lower()] = Coded(column.name, column.domain)
    return found


def plain_column(scan: Scan, name: str, for_what: str = "") -> Coded:
    """Return one of these columns by its name, or refuse it."""
    known = plain_columns(scan)
    if name.lower() not in known:
        raise UnknownName(
            f"Column '{name[:60]}' has no declared values{for_what}.",
            hint=f"Columns: {', '.join(each.name for each in known.values())}."
            if known
            else "Declare them in discreet.toml; of a bare file, --accept says that its values are public.",
        )
    return known[name.lower()]


def is_ordered(column: Coded) -> bool:
    """Return whether neighbouring codes are alike."""
    return not isinstance(column.domain, BooleanDomain | CategoryDomain)


def feature_column(item: Coded) -> Coded:
    """Return a feature whose gaps have a code, and whose numbers are divided finely."""
    column = replace(item, missing=True)
    if isinstance(item.domain, BooleanDomain | CategoryDomain):
        if column.size > MOST_CODES:
            raise too_many(column.name, column.values)
        return column
    if column.positions <= EQUAL_CELLS:
        return column
    return replace(column, edges=fine_cells(column))


def fine_cells(column: Coded) -> tuple[int, ...]:
    """Return the first positions of public cells: equal ones, and two to each doubling from zero.

    So both 36.0 to 42.0 degrees and incomes from nothing to millions are divided well. Not finer:
    a group of many cells has the noise of all of them.
    """
    positions = column.positions
    equal = set(range(0, positions, -(-positions // EQUAL_CELLS)))
    if isinstance(column.domain, DateDomain | TimestampDomain):
        return tuple(sorted(equal))
    assert isinstance(column.domain, IntegerDomain | NumberDomain)
    step = column.domain.step if isinstance(column.domain, NumberDomain) else 1
    zero = -int(Fraction(column.domain.lower) / step)
    away = _distances(max(abs(zero), abs(positions - zero)))
    near = {zero + d for d in away} | {zero + 1 - d for d in away}
    return tuple(sorted({0} | equal | {place for place in near if 0 <= place < positions}))


def _distances(far: int) -> list[int]:
    """Return distances from zero: 0, 1, 2, 3, 4, 6, 8, 12, 16, 24 and so on.

    >>> _distances(20)
    [0, 1, 2, 3, 4, 6, 8, 12, 16]
    """
    found, power = [0, 1], 2
    while power <= far:
        found += [power, 3 * power // 2]
        power *= 2
    return [distance for distance in found if distance <= far]


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
    coded = [replace(feature, missing=True) for feature in features]
    return Encoding(table, (*coded, replace(target, missing=False)))
