"""Stable weekly doses of a blood thinner, with the genes that decide them.

The shape (the square root of the dose is linear) is that of the published warfarin formula; the
coefficients are the town's own and stand in parameters.py.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pyarrow as pa

from discreet.core.arrays import Floats, Integers
from discreet.examples import parameters as p
from discreet.examples.columns import category
from discreet.examples.draw import Stream, TownLaw, stream

RACES = tuple(p.RACE_SHARES)
CYP2C9 = tuple("/".join(pair) for pair in combinations_with_replacement(p.CYP2C9_ALLELES, 2))


def _cyp2c9_law() -> TownLaw:
    """Return shares of the six genotypes by race (Hardy-Weinberg)."""
    pairs = list(combinations_with_replacement(range(3), 2))
    rows = []
    for race in RACES:
        share = p.CYP2C9_FREQUENCIES[race]
        rows.append([share[i] * share[j] * (1 if i == j else 2) for i, j in pairs])
    return TownLaw.of(rows)


RACE = TownLaw.of(list(p.RACE_SHARES.values()))
_A = [p.VKORC1_A_FREQUENCIES[race] for race in RACES]
VKORC1 = TownLaw.of([((1 - a) ** 2, 2 * a * (1 - a), a**2) for a in _A])
"""Shares of G/G, A/G and A/A by race (Hardy-Weinberg)."""
CYP2C9_LAW = _cyp2c9_law()


def dosing_batch(seed: int, patients: int) -> pa.RecordBatch:
    """Return one row for each patient; they are nobody of the town's `people`."""
    rng = stream(seed, Stream.DOSING, 0)
    race = RACE.draw(rng, np.zeros(patients, dtype=np.int64))
    sex = (rng.random(patients) < p.DOSING_MALE_SHARE).astype(np.int64)
    age, height, weight = _bodies(rng, sex)
    vkorc1 = VKORC1.draw(rng, race)
    cyp2c9 = CYP2C9_LAW.draw(rng, race)
    amiodarone = rng.random(patients) < p.AMIODARONE_SHARE
    inducer = rng.random(patients) < p.INDUCER_SHARE
    root = dose_root(age=age, height=height, weight=weight, race=race, vkorc1=vkorc1, cyp2c9=cyp2c9)
    root += p.DOSE_AMIODARONE * amiodarone + p.DOSE_INDUCER * inducer
    root += p.DOSE_SPREAD * rng.standard_normal(patients)
    dose = np.clip(np.rint(np.maximum(root, 0) ** 2 * 2) / 2, p.DOSE_LOWER, p.DOSE_UPPER)
    return pa.RecordBatch.from_pydict(
        {
            "patient_id": pa.array(np.arange(1, patients + 1)),
            "age": pa.array(age.astype(np.int32)),
            "sex": category(sex, ("Female", "Male")),
            "race": category(race, RACES),
            "height": pa.array(height.astype(np.int32)),
            "weight": pa.array(weight),
            "vkorc1": category(vkorc1, p.VKORC1),
            "cyp2c9": category(cyp2c9, CYP2C9),
            "amiodarone": pa.array(amiodarone),
            "inducer": pa.array(inducer),
            "dose": pa.array(dose),
        }
    )


def _bodies(rng: np.random.Generator, sex: Integers) -> tuple[Integers, Floats, Floats]:
    """Return age in years, height in centimetres and weight in kilograms."""
    age = np.rint(p.DOSING_AGE_MEAN + p.DOSING_AGE_SPREAD * rng.standard_normal(len(sex)))
    age = np.clip(age, p.DOSING_AGE_LOWER, p.DOSING_AGE_UPPER)
    height = np.array(p.DOSING_HEIGHT)[sex] + p.DOSING_HEIGHT_SPREAD * rng.standard_normal(len(sex))
    height = np.clip(np.rint(height), p.DOSING_HEIGHT_LOWER, p.DOSING_HEIGHT_UPPER)
    bulk = np.exp(p.DOSING_BODY_MASS_LOG_SPREAD * rng.standard_normal(len(sex)))
    weight = np.rint(p.DOSING_BODY_MASS_MEDIAN * (height / 100) ** 2 * bulk * 10) / 10
    weight = np.clip(weight, p.DOSING_WEIGHT_LOWER, p.DOSING_WEIGHT_UPPER)
    return age.astype(np.int64), height, weight


def dose_root(
    *,
    age: Integers,
    height: Floats,
    weight: Floats,
    race: Integers,
    vkorc1: Integers,
    cyp2c9: Integers,
) -> Floats:
    """Return the mean square root of the weekly dose of people without interacting drugs."""
    root: Floats = (
        p.DOSE_INTERCEPT
        + p.DOSE_AGE_DECADE * age / 10
        + p.DOSE_HEIGHT_CM * height
        + p.DOSE_WEIGHT_KG * weight
        + np.array([p.DOSE_RACE[name] for name in RACES])[race]
        + np.array([p.DOSE_VKORC1[name] for name in p.VKORC1])[vkorc1]
        + np.array([p.DOSE_CYP2C9[name] for name in CYP2C9])[cyp2c9]
    )
    return root
