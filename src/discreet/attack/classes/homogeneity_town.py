"""Patients of the town with one lasting condition each: what k-anonymous releases are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.attack.curator import Ask, AttackTable, categories, curator_over, temporary_town
from discreet.attack.linkage.town import Hospital, prior_of
from discreet.attack.membership.pool import DECLARED
from discreet.core.arrays import Floats, Integers
from discreet.examples.people import SEXES
from discreet.examples.visits import DIAGNOSES

SENSITIVE = "condition"
QUASI = ("age", "sex", "region", "household_size")
"""What a neighbour knows of a patient, and what both hospitals publish in coarser form."""
OTHERS = ("smoker", "job")
"""Further secrets that the same release could hold."""
BAND = 20
"""Years of an age band in the private table."""


@dataclass(frozen=True, slots=True, eq=False)
class Patients:
    """One row a patient: quasi-identifiers and condition; and what is commonly known of each."""

    table: pa.Table
    truth: Integers
    prior: Floats

    def some(self, rows: Integers) -> Patients:
        """Return some of them."""
        return Patients(self.table.take(pa.array(rows)), self.truth[rows], self.prior[rows])


def patients_of(people: int, *, seed: int) -> Patients:
    """Return the patients of a town; the condition is the first diagnosis on each one's list."""
    with temporary_town(people, tables=("people", "visits"), seed=seed) as made:
        hospital = Hospital.of(made, DIAGNOSES)
        prior = prior_of(made, hospital.patients)
    dice = np.random.default_rng(seed)
    # One of the person's diagnoses, each as likely: the list's own order would favour some.
    lots = np.where(hospital.treated, dice.random(hospital.treated.shape), -1.0)
    truth = lots.argmax(axis=1).astype(np.int64)
    table = hospital.patients.select([*QUASI, *OTHERS])
    table = table.append_column(SENSITIVE, pa.array(DIAGNOSES).take(pa.array(truth)))
    return Patients(table, truth, prior)


def private_beliefs(patients: Patients, targets: Patients, *, epsilon: float) -> Floats:
    """Return how likely each condition is for each target, by a curator's table of the patients.

    One question of epsilon: conditions by sex and age band. Counts below half a person count as half
    of one, and every row is weighed with common knowledge as if that were ten more patients.
    """
    # The domains are public, from the recipe of the town.
    declared = {name: DECLARED[name] for name in QUASI} | {SENSITIVE: categories(DIAGNOSES)}
    with curator_over({"patients": AttackTable(patients.table, declared)}, epsilon=epsilon) as ask:
        table = noisy_table(ask, epsilon)
    age = targets.table["age"].to_numpy() // BAND
    sex = np.array([SEXES.index(cell) for cell in targets.table["sex"].to_pylist()])
    counts = table[age, sex]
    weight = 10.0 * targets.prior
    beliefs = np.maximum(counts, 0.5) + weight
    return np.asarray(beliefs / beliefs.sum(axis=1, keepdims=True))


def noisy_table(ask: Ask, epsilon: float) -> Floats:
    """Return noisy counts of patients by age band, sex and condition."""
    sql = (
        f"SELECT age // {BAND} AS band, sex, {SENSITIVE}, COUNT(*) AS n FROM patients "
        f"GROUP BY band, sex, {SENSITIVE}"
    )
    table = np.zeros((120 // BAND + 1, len(SEXES), len(DIAGNOSES)))
    for band, sex, condition, count in ask(sql, epsilon).rows:
        table[int(band), SEXES.index(sex), DIAGNOSES.index(condition)] = float(count)
    return table
