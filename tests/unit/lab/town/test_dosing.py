from __future__ import annotations

import numpy as np
import pyarrow as pa
from scipy import stats

from discreet.lab.town import parameters as p
from discreet.lab.town.studies import CYP2C9, RACES, VKORC1, dosing_batch


def _design(table):
    columns = {"intercept": np.ones(table.num_rows)}
    columns["age"] = table["age"].to_numpy() / 10
    columns["height"] = table["height"].to_numpy().astype(float)
    columns["weight"] = table["weight"].to_numpy()
    for name, levels in (("vkorc1", p.VKORC1), ("cyp2c9", CYP2C9), ("race", RACES)):
        values = np.array(table[name].to_pylist())
        for level in levels[1:]:
            columns[level] = (values == level).astype(float)
    columns["amiodarone"] = table["amiodarone"].to_numpy().astype(float)
    columns["inducer"] = table["inducer"].to_numpy().astype(float)
    return columns


def test_regression_finds_the_stated_coefficients():
    table = pa.Table.from_batches([dosing_batch(4, 40_000)])
    columns = _design(table)
    design = np.column_stack(list(columns.values()))
    root = np.sqrt(table["dose"].to_numpy())
    found, (rest,), *_ = np.linalg.lstsq(design, root, rcond=None)
    error = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * rest / len(root))
    stated = {
        "age": p.DOSE_AGE_DECADE, "height": p.DOSE_HEIGHT_CM, "weight": p.DOSE_WEIGHT_KG,
        **p.DOSE_VKORC1, **p.DOSE_CYP2C9, **p.DOSE_RACE,
        "amiodarone": p.DOSE_AMIODARONE, "inducer": p.DOSE_INDUCER,
    }  # fmt: skip
    reach = stats.norm.isf(1e-9 / 2)
    for i, name in enumerate(columns):
        # The rarest doses are clipped; their genotypes' effects are slightly smaller for it.
        if name not in {"intercept", "*2/*3", "*3/*3", "Asian", "Other"}:
            assert abs(found[i] - stated[name]) < reach * error[i], name
            assert abs(found[i]) > reach * error[i], name
    spread = np.sqrt(rest / len(root))
    assert 0.97 * p.DOSE_SPREAD < spread < 1.03 * p.DOSE_SPREAD


def test_genotypes_by_race(assert_shares):
    table = pa.Table.from_batches([dosing_batch(4, 40_000)])
    race = np.array(table["race"].to_pylist())
    counts = [int((race == name).sum()) for name in RACES]
    assert_shares(counts, list(p.RACE_SHARES.values()), wrong=[[1, 1, 1, 1]])
    gene = np.array(table["vkorc1"].to_pylist())
    for i, name in enumerate(RACES):
        seen = [int(((race == name) & (gene == level)).sum()) for level in p.VKORC1]
        assert_shares(seen, VKORC1.shares[i], wrong=[VKORC1.shares[i - 1]])


def test_every_genotype_has_its_coefficient():
    assert set(CYP2C9) == set(p.DOSE_CYP2C9)
    assert set(p.VKORC1) == set(p.DOSE_VKORC1)
    assert set(RACES) == set(p.DOSE_RACE) == set(p.CYP2C9_FREQUENCIES)
