"""Patients of a dose model: the town's generator, or a file of the user's; the dose as its square root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.attack.attacks import AttackSettings
from discreet.attack.files import OwnPeople, named, people_of, read_rows
from discreet.core.schema import (
    BooleanDomain,
    CategoryDomain,
    FiniteDomain,
    IntegerDomain,
    NumberDomain,
)
from discreet.errors import InvalidInput
from discreet.examples import parameters as p
from discreet.examples.dosing import CYP2C9, RACES, dosing_batch

ROOT = "dose_root"
"""The column that is predicted: the square root of the weekly dose, as in the published formula."""
FEWEST = 60

DOMAINS: dict[str, FiniteDomain] = {
    "age": IntegerDomain(p.DOSING_AGE_LOWER, p.DOSING_AGE_UPPER),
    "sex": CategoryDomain(("Female", "Male")),
    "race": CategoryDomain(RACES),
    "height": IntegerDomain(p.DOSING_HEIGHT_LOWER, p.DOSING_HEIGHT_UPPER),
    "weight": NumberDomain(
        Fraction(str(p.DOSING_WEIGHT_LOWER)), Fraction(str(p.DOSING_WEIGHT_UPPER)), Fraction(1, 10)
    ),
    "vkorc1": CategoryDomain(p.VKORC1),
    "cyp2c9": CategoryDomain(CYP2C9),
    "amiodarone": BooleanDomain(),
    "inducer": BooleanDomain(),
    ROOT: NumberDomain(Fraction(1), Fraction(13), Fraction(1, 100)),
}
"""What the town's patients may be: public, from the published recipe."""


@dataclass(frozen=True, slots=True, eq=False)
class DoseStudy:
    """Patients of one training, patients who were not in it, and what is known of patients at large."""

    trained: OwnPeople
    strangers: OwnPeople
    known: pa.Table

    def only(self, columns: Sequence[str]) -> DoseStudy:
        """Return the same patients with these columns, and the dose."""
        kept = [*(name for name in columns if name != ROOT), ROOT]

        def of(people: OwnPeople) -> OwnPeople:
            domains = {name: people.domains[name] for name in kept}
            return OwnPeople(people.rows.select(kept), domains)

        return DoseStudy(of(self.trained), of(self.strangers), self.known)


def dose_study(chosen: AttackSettings, number: int) -> DoseStudy:
    """Return the patients of one training: drawn anew from the town, or another half of the file."""
    if chosen.text("patients"):
        everyone = own_patients(chosen)
    else:
        everyone = town_patients(3 * chosen.whole("people"), chosen.whole("seed") + 7_919 * number)
    dice = np.random.default_rng([chosen.whole("seed"), number])
    order = dice.permutation(everyone.rows.num_rows)
    size = min(chosen.whole("people"), len(order) // 3)
    parts = [
        OwnPeople(everyone.rows.take(pa.array(order[i * size : (i + 1) * size])), everyone.domains)
        for i in range(3)
    ]
    return DoseStudy(parts[0], parts[1], parts[2].rows)


def town_patients(count: int, seed: int) -> OwnPeople:
    """Return made-up patients."""
    table = pa.Table.from_batches([dosing_batch(seed, count)])
    return OwnPeople(with_root(table, "dose").select(list(DOMAINS)), DOMAINS)


def own_patients(chosen: AttackSettings) -> OwnPeople:
    """Return the patients of the file; every column beside the dose is one that the model uses."""
    columns = chosen.words("columns")
    dose, secret = chosen.text("dose"), chosen.text("secret")
    wanted: Sequence[str] = (*columns, *(n for n in (secret, dose) if n not in columns))
    found = people_of(read_rows(chosen.text("patients")), wanted if columns else ())
    named(found.rows, (dose, secret), label="Your file")
    rows = with_root(found.rows, dose).drop_null()
    if rows.num_rows < FEWEST:
        raise InvalidInput(
            f"{rows.num_rows} patients have no gap in any column; it takes at least {FEWEST}.",
            hint="Name fewer columns with --columns.",
        )
    values = rows[ROOT].to_numpy()
    root = NumberDomain(
        Fraction(int(values.min())), Fraction(int(values.max()) + 1), Fraction(1, 100)
    )
    kept = {n: d for n, d in found.domains.items() if n.lower() != dose.lower()}
    if not isinstance(kept.get(named(rows, [secret], label="Your file")[0]), CategoryDomain):
        raise InvalidInput(f"The secret '{secret}' must be a column of words, not of numbers.")
    return OwnPeople(rows.select([*kept, ROOT]), {**kept, ROOT: root})


def with_root(table: pa.Table, dose: str) -> pa.Table:
    """Return the table with the square root of the dose instead of the dose."""
    (name,) = named(table, [dose], label="Your file")
    values = pc.cast(table[name], pa.float64())
    if pc.min(values).as_py() is None or pc.min(values).as_py() <= 0:
        raise InvalidInput(f"The doses in '{name}' must be above 0.")
    return table.drop_columns([name]).append_column(ROOT, pc.sqrt(values))
