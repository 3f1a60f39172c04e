"""Short words for tests of learners: made-up rows with a known rule, doors to them, and a curator."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa

from copying import MemoryEngine
from discreet.base.schema import CategoryDomain, IntegerDomain
from discreet.curator import Curator, policy_of
from discreet.data.catalog.policy_file import loads
from discreet.measure.columns import Coded, Encoding
from discreet.measure.private_marginals import CountSensitivity, MarginalBudget
from discreet.privacy.ledger.ledger import Ledger
from discreet.testing import SeededRng
from discreet.work.learn.private_rows import PaidRows, PrivateResiduals

TOML = """
[datasets.town]
epsilon = {epsilon}
delta = {delta}
neighbours = "{neighbours}"
[datasets.town.tables.people]
source = "people.parquet"
unit = "row"
version = 1
[datasets.town.tables.people.columns]
id = {{ type = "identifier" }}
age = {{ type = "integer", lower = 0, upper = 99, missing = true }}
sex = {{ type = "category", values = ["Female", "Male"] }}
wage = {{ type = "number", lower = 0, upper = 1000, step = 0.01 }}
rich = {{ type = "category", values = ["no", "yes"] }}
kind = {{ type = "category", values = ["a", "b", "c"] }}
one = {{ type = "category", values = ["same"] }}
bid = {{ type = "number", lower = 0, upper = 4, step = 0.01 }}
"""


def people(rows: int = 2000, *, seed: int = 0) -> pa.Table:
    """Return people of whom the old and the men are rich, mostly."""
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, rows)
    male = rng.random(rows) < 0.5
    odds = 1 / (1 + np.exp(-(0.08 * (age - 50) + 1.5 * (male - 0.5))))
    rich = rng.random(rows) < odds
    wage = np.round(np.clip(5 * age + 100 * male + rng.normal(0, 50, rows), 0, 1000), 2)
    return pa.table(
        {
            "id": list(range(rows)),
            "age": [None if i % 50 == 0 else int(a) for i, a in enumerate(age)],
            "sex": np.where(male, "Male", "Female").tolist(),
            "wage": wage.tolist(),
            "rich": np.where(rich, "yes", "no").tolist(),
            "kind": np.array(["a", "b", "c"])[np.minimum(age // 34, 2)].tolist(),
            "one": ["same"] * rows,
            "bid": np.where(np.arange(rows) % 4 == 0, 3.01, 1.0).tolist(),
        }
    )


def curator(base, *, table=None, rng=None, epsilon="20", delta="1e-5", neighbours="add-remove"):
    known = loads(TOML.format(epsilon=epsilon, delta=delta, neighbours=neighbours), base=base)
    ledger = Ledger.open(known.ledger_url, policy_of(known), base=known.base)
    engine = MemoryEngine({"town.people": people() if table is None else table})
    return Curator(known, ledger=ledger, engine=engine, rng=rng or SeededRng(3))


def encoding(classes: int = 2) -> Encoding:
    return Encoding(
        "t",
        (
            Coded("x", IntegerDomain(0, 9), missing=True),
            Coded("g", CategoryDomain(("a", "b", "c")), missing=True),
            Coded("y", CategoryDomain(tuple("pqrs"[:classes]))),
        ),
    )


def codes(rows: int, classes: int = 2, *, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 11, rows)
    g = rng.integers(0, 4, rows)
    y = np.clip((x + g + rng.integers(0, 4, rows)) * classes // 17, 0, classes - 1)
    return np.stack([x, g, y], axis=1).astype(np.int32)


def residuals_of(found, shape, *, budget=None, unit=None, seed=1) -> PrivateResiduals:
    rows = PaidRows(found, shape, shape.width - 1)
    given = budget or MarginalBudget(Fraction(1), concentrated=True)
    return PrivateResiduals(rows, given, unit or CountSensitivity(), SeededRng(seed))
