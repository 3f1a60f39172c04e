"""Domains learned with budget: what one person has alone never appears; all of it is paid for."""

from collections import Counter
from fractions import Fraction

import pyarrow as pa
import pytest

from copying import MemoryEngine, catalog_of, people, visits
from discreet.base.event import Composed
from discreet.base.schema import CategoryDomain
from discreet.measure.columns import Bins, outline_of
from discreet.measure.learned_domains import LearningContext, learn
from discreet.measure.private_marginals import MarginalBudget
from discreet.privacy.account.tally import tally
from discreet.privacy.noise.laws import GaussianLaw
from discreet.privacy.noise.select import threshold_for
from discreet.testing import SeededRng
from noise_kit import appearance_bounds
from permits import paid
from sittings import FULL
from town_source import town_source

BUDGET = MarginalBudget(Fraction(1, 10), concentrated=True)
RISK = Fraction(1, 10**6)
TOWN = town_source()


def learned(base, table, *, rng, bins=Bins.QUANTILE, budget=BUDGET, neighbours="add-remove"):
    engine = MemoryEngine({"town.people": table, "clinic.visits": visits(1)})
    catalog = catalog_of(base, neighbours=neighbours)
    return learned_of(engine, catalog, rng=rng, bins=bins, budget=budget)


def learned_of(engine, catalog, *, rng, bins=Bins.QUANTILE, budget=BUDGET):
    outline = outline_of(catalog, "people", bins=bins, has_delta=True)
    context = LearningContext(engine, paid(engine.hold({})), budget, RISK, TOWN, rng)
    return learn(outline, context, lambda _: None)


def test_words_and_ranges(tmp_path):
    found = learned(tmp_path, people(4000), rng=SeededRng(1))
    by_name = {column.name: column for column in found.encoding.coded}
    assert by_name["job"].domain == CategoryDomain(("baker", "clerk"))
    assert by_name["job"].missing
    assert by_name["income"].edges is not None
    assert by_name["income"].open_ends
    assert 0 <= by_name["income"].domain.lower < 100
    assert 900 < by_name["income"].domain.upper <= 1100
    assert by_name["born"].missing
    assert by_name["sex"].domain == CategoryDomain(("Female", "Male"))  # declared: nothing to learn
    assert found.notices == ()


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_what_was_spent_is_at_most_what_was_paid(tmp_path, neighbours):
    found = learned(tmp_path, people(400), rng=SeededRng(2), neighbours=neighbours)
    used = tally(Composed(found.events))
    assert 0 < used.rho <= BUDGET.amount + len(found.events) * Fraction(1, 10**24)
    assert used.delta == RISK


def test_a_canary_held_by_one_person_never_appears(tmp_path):
    # The chance for each run is at most RISK: a false alarm in twenty runs comes once in 50,000.
    engine = MemoryEngine({"town.people": people(300, rare="CANARY-7351")})
    catalog = catalog_of(tmp_path)
    for seed in range(20 if FULL else 5):
        found = learned_of(engine, catalog, rng=SeededRng(seed))
        words = [c.domain.values for c in found.encoding.coded if c.name == "job"]
        assert "CANARY-7351" not in str(words)
        assert words == [("baker", "clerk")]


def test_the_chance_of_a_canary_is_computed_not_hoped_for():
    sigma_squared = Fraction(1) / (2 * BUDGET.amount / 3)
    noise = GaussianLaw.of(sigma_squared)
    threshold = threshold_for(noise, RISK, max_groups=1)
    assert appearance_bounds(noise, threshold)[1] <= RISK
    assert appearance_bounds(noise, threshold - 1)[0] > RISK  # and no larger than needed


def test_a_canary_of_many_people_does_appear(tmp_path):
    table = people(300)
    jobs = ["CANARY-7351"] * 100 + table["job"].to_pylist()[100:]
    table = table.set_column(table.column_names.index("job"), "job", pa.array(jobs))
    found = learned(tmp_path, table, rng=SeededRng(4))
    (job,) = [c for c in found.encoding.coded if c.name == "job"]
    assert "CANARY-7351" in job.domain.values  # so the test above can fail


def test_too_little_budget_leaves_a_column_out_and_says_so(tmp_path):
    poor = MarginalBudget(Fraction(1, 10**7), concentrated=True)
    found = learned(tmp_path, people(200), rng=SeededRng(5), budget=poor)
    names = Counter(column.name for column in found.encoding.coded)
    assert "job" not in names
    assert any("'job' was left out" in notice for notice in found.notices)


def test_nothing_to_learn_costs_nothing(tmp_path):
    catalog = catalog_of(tmp_path)
    engine = MemoryEngine({"town.people": people(), "clinic.visits": visits()})
    outline = outline_of(catalog, "people", bins=Bins.EQUAL, has_delta=False)
    before = len(engine.ran)
    found = learn(
        outline,
        LearningContext(engine, paid(engine.hold({})), BUDGET, RISK, TOWN, SeededRng(1)),
        print,
    )
    assert found.events == ()
    assert len(engine.ran) == before


def test_very_long_texts_and_odd_ones(tmp_path):
    table = people(900)
    jobs = ["x" * 300] * 300 + [""] * 100 + [" padded "] * 200 + ["O'Neil\\"] * 300
    table = table.set_column(table.column_names.index("job"), "job", pa.array(jobs))
    found = learned(tmp_path, table, rng=SeededRng(6))
    (job,) = [c for c in found.encoding.coded if c.name == "job"]
    assert job.domain.values == (" padded ", "O'Neil\\")
