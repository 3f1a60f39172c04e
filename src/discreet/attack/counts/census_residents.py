"""Residents of the user's own file, as the census attack counts them: a number and three flags."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from discreet.attack.counts.census_tables import OLDEST
from discreet.attack.files import named, read_rows
from discreet.attack.own_file import people_of
from discreet.core.arrays import Integers
from discreet.core.schema import IntegerDomain, NumberDomain
from discreet.errors import InvalidInput


def own_residents(path: str, columns: tuple[str, ...]) -> Integers:
    """Return the people of a file who have all four: rows of a number and three zeros or ones."""
    if len({name.lower() for name in columns}) != 4:
        raise InvalidInput(
            "Name four columns: a number, and three with two values each.",
            hint="As in --columns age,sex,married,smoker.",
        )
    table = read_rows(path)
    table = table.select(list(named(table, columns, label="Your file"))).drop_null()
    people = people_of(table, columns)
    names = people.rows.column_names
    return np.stack(
        [_number(people.rows[names[0]], names[0], people.domains[names[0]])]
        + [_flag(people.rows[name], name) for name in names[1:]],
        axis=1,
    )


def _number(column: pa.ChunkedArray, name: str, domain: object) -> Integers:
    if not isinstance(domain, IntegerDomain | NumberDomain):
        raise InvalidInput(f"The column '{name}' must hold numbers.")
    values = np.floor(column.cast(pa.float64()).to_numpy())
    if values.min() < 0 or values.max() > OLDEST:
        raise InvalidInput(f"The numbers in '{name}' must lie between 0 and {OLDEST}.")
    return np.asarray(values, dtype=np.int64)


def _flag(column: pa.ChunkedArray, name: str) -> Integers:
    words = np.array([str(value) for value in column.to_pylist()], dtype=object)
    values = sorted(set(words.tolist()))
    if len(values) != 2:
        raise InvalidInput(f"The column '{name}' has {len(values)} values, not two.")
    return np.asarray(words == values[1], dtype=np.int64)
