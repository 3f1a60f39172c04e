"""One price for a fixed batch: shares, targets, and noise that a person cannot be seen through."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.base.event import Gaussian, Laplace
from discreet.base.numbers import Delta
from discreet.errors import InvalidInput
from discreet.privacy.account.batch import batch_epsilon
from discreet.privacy.noise.laws import GaussianLaw, LaplaceLaw
from discreet.work.publish import price
from discreet.work.publish.specification import parse_spec, target_of
from publish_kit import Made, random_rows, random_tables, spec_text
from publish_memory_kit import plan_in_memory
from sittings import FULL

SPECS = 12 if FULL else 3
NATION = Made("nation", ("sex", "third"), "", "COUNT(*)")
COUNTY = Made("county", ("county", "sex", "third"), "", "COUNT(*)")


def plan(tables: list[Made], tmp_path: Path, **options):
    found = plan_in_memory(tables, tmp_path, random_rows(50, random.Random(0)), **options)
    return found.plan


def test_the_batch_costs_what_was_written_in_both_currencies(tmp_path: Path):
    priced = plan([NATION, COUNTY], tmp_path).priced
    cost = priced.quote.cost
    assert (cost.epsilon, cost.delta) == (Fraction(1), Fraction("1e-7"))
    assert all(isinstance(event, Gaussian) for event in priced.events)
    rho = sum(e.l2_squared / (2 * e.sigma_squared) for e in priced.events)
    assert rho <= cost.rho <= rho * (1 + Fraction(1, 10**9))  # rounded up
    assert batch_epsilon(priced.events, Delta.of("1e-7")) <= 1
    # Tight: a little less noise would cost more than was written.
    louder = [Gaussian(e.sigma_squared * Fraction(98, 100), e.l2_squared, 1) for e in priced.events]
    assert batch_epsilon(louder, Delta.of("1e-7")) > 1


def test_shares_are_shares_of_rho(tmp_path: Path):
    more = spec_text([NATION, COUNTY]).replace(
        "[tables.county]\n", "[tables.county]\nshare = 0.75\n"
    )
    events = plan([NATION, COUNTY], tmp_path, text=more).priced.events
    rho = [float(e.l2_squared / (2 * e.sigma_squared)) for e in events]
    assert rho[1] / sum(rho) == pytest.approx(0.75, rel=1e-4)


def test_optimal_weights_help_the_table_that_gets_no_other_help(tmp_path: Path):
    shares = plan([NATION, COUNTY], tmp_path).priced.shares
    assert sum(shares) == 1
    # Counties also say something about the nation; nothing else says anything about counties.
    assert shares[1] > Fraction(1, 2) > shares[0] > 0


def test_pure_epsilon_adds_up(tmp_path: Path):
    priced = plan([NATION, COUNTY], tmp_path, delta="").priced
    assert all(isinstance(event, Laplace) for event in priced.events)
    assert sum(e.l1 / e.scale for e in priced.events) <= 1
    assert all(isinstance(law, LaplaceLaw) for law in priced.laws)


def test_an_accuracy_target_is_met_or_infeasible(tmp_path: Path):
    wanted = '[tables.county]\naccuracy = "95% of cells over 500 within 5%"\n'
    text = spec_text([NATION, COUNTY]).replace("[tables.county]\n", wanted)
    found = plan([NATION, COUNTY], tmp_path, text=text).priced
    law = found.laws[1]
    assert isinstance(law, GaussianLaw)
    assert law.half_width(Fraction(95, 100)) <= 25
    hopeless = text.replace("over 500 within 5%", "over 100 within 1%")
    with pytest.raises(InvalidInput, match=r"infeasible: needs epsilon [0-9.]+") as error:
        plan([NATION, COUNTY], tmp_path, text=hopeless)
    needed = error.value.message.split("epsilon ")[1].split(" ")[0]
    enough = hopeless.replace("epsilon = 1\n", f"epsilon = {float(needed) * 1.03}\n")
    priced = plan([NATION, COUNTY], tmp_path, text=enough).priced
    assert priced.laws[1].half_width(Fraction(95, 100)) <= 2


@pytest.mark.parametrize("text", ["95%", "0% of cells over 5 within 5%", 7, "of cells"])
def test_targets_that_mean_nothing_are_refused(text):
    with pytest.raises(InvalidInput):
        target_of(text)


def test_a_spec_is_read_exactly(tmp_path: Path):
    spec = parse_spec(spec_text([NATION], epsilon="0.1"), base=tmp_path)
    assert spec.epsilon.value == Fraction(1, 10)
    assert spec.digest == parse_spec(spec.text, base=tmp_path).digest
    assert len(json.dumps(spec.digest)) == 66


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_nobody_moves_the_cells_by_more_than_the_noise_was_made_for(
    tmp_path: Path, neighbours: str, monkeypatch
):
    # How much noise there is does not matter here, only what it was made for.
    monkeypatch.setattr(price, "batch_epsilon", lambda *_: Fraction(1))
    dice = random.Random(7)
    rows = random_rows(60, dice)
    moved = 0
    for _ in range(SPECS):
        tables = random_tables(dice)
        place = dice.randrange(len(rows))
        other = rows[:place] + rows[place + 1 :]
        if neighbours == "replace-one":
            other = [*other, random_rows(1, dice)[0]]
        one = plan_in_memory(tables, tmp_path, rows, neighbours=neighbours)
        two = plan_in_memory(tables, tmp_path, other, neighbours=neighbours)
        for each, event in zip(one.plan.wanted, one.plan.priced.events, strict=True):
            gap = one.cells(each.family, each.place) - two.cells(each.family, each.place)
            assert isinstance(event, Gaussian)
            assert int(np.square(gap).sum()) <= event.l2_squared
            moved += bool(gap.any())
    assert moved >= SPECS - 1


def test_who_lacks_a_value_is_left_out_only_where_tables_would_not_add_up(tmp_path: Path):
    rows = [("r0", "F", "a", 3, 10), (None, "F", "a", 3, 10), ("r1", None, "b", None, 5)]
    rows += [("r7", "M", "c", 9, 1)] * 3
    total = Made("total", (), "", "COUNT(*)")
    county = Made("county", ("county",), "", "COUNT(*)")
    old = Made("old", ("job",), "p.age >= 6", "COUNT(*)")
    odd = Made("odd", ("third",), "p.age >= 6 OR p.age IS NULL", "COUNT(*)")

    def cells(tables: list[Made]) -> dict[str, int]:
        found = plan_in_memory(tables, tmp_path, rows)
        return {
            each.member.name: int(found.cells(each.family, each.place).sum())
            for each in found.plan.wanted
        }

    # Nothing groups by age: who lacks one still counts in the total, not among the old.
    assert cells([total, old]) == {"total": 6, "old": 3}
    # Regions are said to be complete: whoever lacks one is in neither table, so they add up.
    assert cells([total, county]) == {"total": 5, "county": 5}
    # A condition that lets a missing age pass makes no group of it.
    assert cells([total, odd]) == {"total": 6, "odd": 3}
