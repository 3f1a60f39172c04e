"""Levels of a column: for each of its finest pieces the class it belongs to, evaluated in public."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.core.arrays import Bits, Integers
from discreet.core.numbers import plain
from discreet.plan import expr as e
from discreet.plan.functions.evaluate import evaluate
from discreet.publish.families.atoms import FamilyAtoms
from discreet.publish.families.bound import BoundCondition, BoundKey

MISSING = "(missing)"
"""How a missing value is written where the catalog says that values may be missing."""


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The classes of a column: their labels, and the class of each piece, -1 where it has none."""

    labels: tuple[str, ...]
    codes: Integers


def level_of(atoms: FamilyAtoms, key: BoundKey) -> Level:
    """Return the classes that a key makes of a column's pieces, in the order of declared values."""
    found = _values(atoms, key)
    if key.value == e.ColumnRef(key.base) and atoms.missing:
        found[-1] = MISSING
    order: dict[Any, int] = {}
    if isinstance(key.value, e.ColumnRef) and key.value.name in key.attached:
        present = set(found)
        for value in key.attached[key.value.name].order:
            if value in present:
                order.setdefault(value, len(order))
    for value in found:
        if value is not None:
            order.setdefault(value, len(order))
    codes = np.array([-1 if value is None else order[value] for value in found], dtype=np.int64)
    return Level(tuple(map(text_of, order)), codes)


def mask_of(atoms: FamilyAtoms, condition: BoundCondition) -> Bits:
    """Return for which pieces a condition holds."""
    return np.array([value is True for value in _values(atoms, condition)], dtype=bool)


def _values(atoms: FamilyAtoms, part: BoundKey | BoundCondition) -> list[Any]:
    """Return the value of an expression for each piece."""
    value, base, attached = part.value, part.base, part.attached
    if value == e.ColumnRef(base):
        return list(atoms.values)
    if isinstance(value, e.ColumnRef):
        known = attached[value.name].values
        return [known.get(piece) for piece in atoms.values]
    used = [name for name in e.columns_of(value) if name in attached]
    found = []
    for piece in atoms.values:
        row = {name: attached[name].values.get(piece) for name in used}
        # A row without a partner in the public table is in no group at all.
        lost = any(partner is None for partner in row.values())
        found.append(None if lost else evaluate(value, {**row, base: piece}))
    return found


def text_of(value: Any) -> str:
    """Return a key as it is written in a published table.

    >>> text_of(True), text_of(Fraction(1, 2)), text_of("Kent")
    ('true', '0.5', 'Kent')
    """
    match value:
        case bool():
            return "true" if value else "false"
        case Fraction():
            return plain(value)
        case dt.date():
            return value.isoformat()
        case _:
            return str(value)
