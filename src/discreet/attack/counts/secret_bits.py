"""Everybody's secret bit: of the town's people, or of a column of the user's own file."""

from __future__ import annotations

import numpy as np

from discreet.attack.attacks import AttackSettings, Knob
from discreet.attack.files import named, read_rows
from discreet.attack.town import staged
from discreet.core.arrays import Bits
from discreet.errors import InvalidInput

OWN_FILE = (
    Knob("original", "", "your own file of people, instead of the town"),
    Knob("secret", "", "its secret: COLUMN (two values), or COLUMN=VALUE"),
)
"""The knobs of every attack whose secret is one bit a person."""


def secret_bits(chosen: AttackSettings, *, people: int, town: str) -> Bits:
    """Return the bits of the file that was named, or of `people` townsfolk in column `town`."""
    if chosen.text("original"):
        return bits_of_file(chosen.text("original"), chosen.text("secret"))
    with staged(people, tables=("people",), seed=chosen.whole("seed")) as made:
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
