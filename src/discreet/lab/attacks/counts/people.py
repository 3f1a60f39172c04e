"""People as the attacks on counts see them: blocks of neighbours, the tables of a block, a secret bit for each person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pyarrow as pa

from discreet.base.arrays import Bits, Floats, Integers
from discreet.base.schema import IntegerDomain, NumberDomain
from discreet.errors import InvalidInput
from discreet.lab.attacks.attacks import AttackSettings, file_knob, words_knob
from discreet.lab.attacks.curator import BOOLEAN, AttackTable, temporary_town, whole_numbers
from discreet.lab.attacks.files import named, people_of, read_rows


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Blocks of equal size; `secret[b, p]` is the bit of the person at place `p` of block `b`."""

    secret: Bits

    @property
    def blocks(self) -> int:
        """Return how many blocks there are."""
        return int(self.secret.shape[0])

    @property
    def places(self) -> int:
        """Return how many people live in each."""
        return int(self.secret.shape[1])

    def exhibit(self) -> AttackTable:
        """Return the table that a curator guards: block and place are public, the bit is not."""
        block, place = np.indices(self.secret.shape)
        rows = pa.table(
            {
                "block": pa.array(block.ravel()),
                "place": pa.array(place.ravel()),
                "secret": pa.array(self.secret.ravel()),
            }
        )
        return AttackTable(
            rows,
            {
                "block": whole_numbers(0, self.blocks - 1),
                "place": whole_numbers(0, self.places - 1),
                "secret": BOOLEAN,
            },
        )


def blocks_of(secret: Bits, *, places: int, rng: np.random.Generator) -> Blocks:
    """Return the people in blocks of `places`, shuffled; whoever is left over moves away."""
    if secret.size < places:
        raise InvalidInput(
            f"A block of {places} people needs at least as many people.",
            hint="Make the blocks smaller or the town larger.",
        )
    blocks = secret.size // places
    return Blocks(rng.permutation(secret)[: blocks * places].reshape(blocks, places))


def with_balanced_targets(blocks: Blocks, rng: np.random.Generator) -> Blocks:
    """Return the blocks whose people differ, renumbered: place 0 is the target.

    Half of the targets have the bit: the coin of the game that an attacker has to guess, so that
    guessing without looking is right half the time, however rare the bit is.
    """
    mixed = blocks.secret[blocks.secret.any(1) & ~blocks.secret.all(1)].copy()
    mixed = mixed[: len(mixed) // 2 * 2]
    if not len(mixed):
        raise InvalidInput(
            "In every block all people have the same answer.", hint="Make the blocks larger."
        )
    wanted = rng.permutation(np.arange(len(mixed)) % 2).astype(bool)
    keys = np.where(mixed == wanted[:, None], rng.random(mixed.shape), 2.0)
    target = keys.argmin(1)
    rows = np.arange(len(mixed))
    mixed[rows, target], mixed[rows, 0] = mixed[rows, 0].copy(), mixed[rows, target].copy()
    return Blocks(mixed)


OLDEST = 104
BAND = 5
BANDS = OLDEST // BAND + 1

RESIDENTS: Integers = np.array(
    list(product(range(OLDEST + 1), (0, 1), (0, 1), (0, 1))), dtype=np.int64
)
"""Every kind of resident there can be: age, male, married, smoker. A block is a count of each."""
AGE, MALE, MARRIED, SMOKER = range(4)
_FLAGS = {MALE: "male", MARRIED: "married", SMOKER: "smoker"}


@dataclass(frozen=True, slots=True)
class CensusCounts:
    """One published table of counts: by which flags, and whether by five-year bands of age too."""

    flags: tuple[int, ...]
    banded: bool

    @property
    def cells(self) -> int:
        """Return how many cells it has in each block."""
        return int(2 ** len(self.flags)) * (BANDS if self.banded else 1)

    def place(self) -> Integers:
        """Return the cell of this table that each kind of resident is counted in."""
        found = np.zeros(len(RESIDENTS), dtype=np.int64)
        for flag in self.flags:
            found = 2 * found + RESIDENTS[:, flag]
        return found * BANDS + RESIDENTS[:, AGE] // BAND if self.banded else found

    def matrix(self) -> Floats:
        """Return the equations: one row a cell, one column a kind of resident."""
        found = self.place()[None, :] == np.arange(self.cells)[:, None]
        return np.asarray(found, dtype=np.float64)

    def sql(self, table: str) -> str:
        """Return the question that gives this table for every block at once."""
        keys = ["block", *(_FLAGS[flag] for flag in self.flags)]
        keys += [f"age // {BAND}"] if self.banded else []
        named = [*keys[:-1], f"{keys[-1]} AS last"]
        groups = [*keys[:-1], "last"]
        return f"SELECT {', '.join(named)}, COUNT(*) AS n FROM {table} GROUP BY {', '.join(groups)}"

    def cell_of(self, key: Sequence[int]) -> int:
        """Return the cell that an answered key (without its block) stands for."""
        found = 0
        for value in key[: len(self.flags)]:
            found = 2 * found + int(value)
        return found * BANDS + int(key[-1]) if self.banded else found

    @property
    def words(self) -> str:
        """Return what the table counts."""
        names = [_FLAGS[flag] for flag in self.flags] + (["five-year age"] if self.banded else [])
        return " x ".join(names)


PUBLISHED: tuple[CensusCounts, ...] = (
    CensusCounts((MALE, MARRIED), banded=True),
    CensusCounts((MALE, SMOKER), banded=True),
    CensusCounts((MALE, MARRIED, SMOKER), banded=False),
)
"""Every block's counts. Means and medians of age by each set of flags come on top: `age_rows`."""


@dataclass(frozen=True, slots=True, eq=False)
class ResidentRows:
    """Inequalities low <= matrix @ counts <= high that a block must satisfy."""

    matrix: Floats
    low: Floats
    high: Floats


def tabulated(residents: Integers) -> Integers:
    """Return how many residents of each kind there are; `residents` as rows of RESIDENTS."""
    kinds = residents[:, AGE]
    for flag in (MALE, MARRIED, SMOKER):
        kinds = 2 * kinds + residents[:, flag]
    return np.bincount(kinds, minlength=len(RESIDENTS)).astype(np.int64)


def count_rows(block: Integers) -> ResidentRows:
    """Return what the published counts of a block say."""
    matrix = np.vstack([table.matrix() for table in PUBLISHED])
    values = matrix @ block
    return ResidentRows(matrix, values, values)


def age_rows(block: Integers) -> ResidentRows:
    """Return what published mean (two decimals) and median ages say, for all and by all sets of flags."""
    found = [row for group in _groups() for row in _age_facts(block, group)]
    matrix, low, high = zip(*found, strict=True)
    return ResidentRows(np.array(matrix), np.array(low), np.array(high))


def _groups() -> Iterator[Bits]:
    for choice in product((0, 1, None), repeat=len(_FLAGS)):
        inside = np.ones(len(RESIDENTS), dtype=bool)
        for flag, value in zip(_FLAGS, choice, strict=True):
            inside &= True if value is None else RESIDENTS[:, flag] == value
        yield inside


def _age_facts(block: Integers, group: Bits) -> Iterator[tuple[Floats, float, float]]:
    age = RESIDENTS[:, AGE].astype(np.float64)
    size = int(block[group].sum())
    if not size:
        return
    inside = group.astype(np.float64)
    mean = round(float((age * inside) @ block) / size, 2)
    yield age * inside, (mean - 0.005) * size - 1e-6, (mean + 0.005) * size + 1e-6
    ages = np.repeat(RESIDENTS[group, AGE], block[group])
    below = (size - 1) // 2
    median = int(np.sort(ages)[below])  # the lower one: it is somebody's age
    yield inside * (age < median), 0.0, float(below)
    yield inside * (age <= median), float(below + 1), float(size)


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
