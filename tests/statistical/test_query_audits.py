"""An audit of whole questions: SQL in, answers out, on files that differ in one person for each group.

Every group of one answer is a release about other people with noise of its own, so a question with 5,000
groups is 5,000 runs of the whole way: parse, plan, seal, charge, read, noise, store. In D a group has one
person more than in D'. Each lower bound is above the truth with a chance of at most ALPHA = 1e-9.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.curator import open as open_curator
from discreet.privacy.kernel import look
from discreet.privacy.noise.laws import GaussianLaw, LaplaceLaw
from discreet.testing.statistics import epsilon_lower_bound
from sittings import FULL

GROUPS = 5_000
ROUNDS, LEAST = (3, 0.4) if FULL else (1, 0.25)
"""One round measures 0.72 of a count and 0.62 of a sum, with deviations of 0.03 and 0.05."""

COUNT = "SELECT place, COUNT(*) AS n FROM people GROUP BY place"
SUM = "SELECT place, SUM(gain) AS n FROM people GROUP BY place"
TOML = """
[datasets.town]
epsilon = 1000
delta = {delta}

[datasets.town.tables.people]
source = "people.parquet"
unit = "row"

[datasets.town.tables.people.columns]
place = {{ type = "integer", lower = 0, upper = 4999 }}
gain = {{ type = "integer", lower = 0, upper = 10 }}
"""


@pytest.fixture(scope="module")
def towns(tmp_path_factory):
    """Two folders for each currency: with and without the one more person in every group."""
    found = {}
    for delta in ("0", "1e-3"):
        for more in (True, False):
            folder = tmp_path_factory.mktemp("town")
            places = np.repeat(np.arange(GROUPS), 2 if more else 1)
            gains = np.where(np.arange(len(places)) % 2 == 1, 10, 0) if more else 0 * places
            pq.write_table(pa.table({"place": places, "gain": gains}), folder / "people.parquet")
            (folder / "discreet.toml").write_text(TOML.format(delta=delta))
            found[delta, more] = folder
    return found


def answered(folder, sql):
    with open_curator(folder) as curator:
        parts = [curator.query(sql, epsilon="1", fresh=True).to_arrow()["n"] for _ in range(ROUNDS)]
    return np.concatenate([np.asarray(part) for part in parts]).astype(np.int64)


def measured(towns, sql, delta):
    outcomes = [answered(towns[delta, more], sql) for more in (True, False)]
    if sql == SUM:  # a sum's noise is ten times as wide: coarser bins lose nothing and say more
        outcomes = [np.floor_divide(each, 5) for each in outcomes]
    return epsilon_lower_bound(*outcomes, delta=float(delta)).epsilon


@pytest.mark.parametrize(
    ("sql", "delta"), [(COUNT, "0"), (SUM, "1e-3")], ids=["count", "sum with delta"]
)
def test_a_question_loses_no_more_than_it_costs(towns, sql, delta, record_property):
    found = measured(towns, sql, delta)
    record_property(
        f"audited epsilon of 1 ({'count' if sql == COUNT else 'sum'}, delta {delta})",
        round(found, 2),
    )
    assert LEAST < found <= 1  # the lower side: an audit that sees nothing would pass everything


def test_a_curator_with_half_the_noise_is_caught(towns, monkeypatch):
    real = look.draw

    def weaker(law, size, rng):
        match law:
            case LaplaceLaw():
                return real(LaplaceLaw(law.scale / 2), size, rng)
            case GaussianLaw():
                return real(GaussianLaw(law.sigma_squared / 4), size, rng)
        raise AssertionError(law)

    monkeypatch.setattr(look, "draw", weaker)
    assert measured(towns, COUNT, "0") > 1
