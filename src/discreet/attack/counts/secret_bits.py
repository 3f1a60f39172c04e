"""People as the attacks on counts see them: a secret bit each, or a number and three flags."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from discreet.attack.attacks import AttackSettings, file_knob, words_knob
from discreet.attack.counts.census_tables import OLDEST
from discreet.attack.curator import temporary_town
from discreet.attack.files import named, people_of, read_rows
from discreet.core.arrays import Bits, Integers
from discreet.core.schema import IntegerDomain, NumberDomain
from discreet.errors import InvalidInput

OWN_FILE = (
    file_knob("original", "your own file of people, instead of the town"),
    words_knob("secret", "", "its secret: COLUMN (two values), or COLUMN=VALUE"),
)
"""The knobs of every attack whose secret is one bit a person."""


def secret_bits(chosen: AttackSettings, *, people: int, town: str) -> Bits:
    """Return the bits of the file that was named, or of `people` townsfolk in column `town`."""
    if chosen.text("original"):
        return bits_of_file(chosen.text("original"), chosen.text("secret"))
    with temporary_town(people, tables=("people",), seed=chosen.whole("seed")) as made:
        found = made.load("people")[town].to_numpy(zero_copy_only=False)
    return np.asarray(found, dtype=np.bool_)


def bits_of_file(path: str, secret: str) -> Bits:
    """Return whether each person of a file has the secret value; people without one are left out."""
    table = read_rows(path)
    column, equals, value = secret.partition("=")
    if not column:
        raise InvalidInput(
            "Say which column of your file is secret.", hint="As in --secret smoker, or job=Nurse."
        )
    (name,) = named(table, [column.strip()], label="Your file")
    words = np.array([str(x) for x in table[name].to_pylist() if x is not None], dtype=object)
    values = sorted(set(words.tolist()))
    if not equals and len(values) != 2:
        raise InvalidInput(
            f"The column '{name}' has {len(values)} values, not two.",
            hint=f"Say which of them is the secret one: --secret {name}=VALUE.",
        )
    wanted = value.strip() if equals else values[1]
    if wanted not in values:
        raise InvalidInput(f"Nobody in your file has '{wanted}' in the column '{name}'.")
    return np.asarray(words == wanted, dtype=np.bool_)


def balanced_bits(bits: Bits, people: int, rng: np.random.Generator) -> Bits:
    """Return the bits of `people` people of whom half have it, so that guessing gives 1/2."""
    yes, no = (rng.permutation(np.flatnonzero(side)) for side in (bits, ~bits))
    half = people // 2
    if min(yes.size, no.size) < people - half:
        raise InvalidInput(
            f"It takes {people - half} people of each kind; there are {yes.size} and {no.size}.",
            hint="Use fewer people.",
        )
    order = rng.permutation(np.concatenate([yes[:half], no[: people - half]]))
    return np.asarray(bits[order], dtype=np.bool_)


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
