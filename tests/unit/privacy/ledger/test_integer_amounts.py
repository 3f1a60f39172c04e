from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.base.event import Cost
from discreet.privacy.ledger.budget import CEILING, AmountResolution

ZERO = Fraction(0)


def resolution(epsilon="1", delta=ZERO, rho=ZERO, rho_delta=ZERO) -> AmountResolution:
    return AmountResolution.of(Fraction(epsilon), Fraction(delta), rho, rho_delta)


@pytest.mark.parametrize("limit", ["1", "0.001", "3", "1e6", "1e-9", "1e30", "1/3", "99999"])
def test_a_limit_is_between_10_15_and_10_16_quanta(limit):
    unit = resolution(limit)
    count = unit.amounts(Cost(Fraction(limit), ZERO, ZERO, ZERO))[0]
    assert 10**15 <= count <= 10**16
    assert unit.cost((count, 0, 0, 0)).epsilon >= Fraction(limit)


@pytest.mark.parametrize("power", range(-20, 34))
@pytest.mark.parametrize("first", ["1", "2.5", "9.99"])
def test_every_limit_is_counted_with_15_digits_below_it(first, power):
    limit = Fraction(first) * Fraction(10) ** power
    unit = AmountResolution.of(limit, limit, limit, limit)
    finest = Fraction(10) ** (power - 15)
    for amount in (limit, finest, 7 * finest):
        cost = Cost(amount, amount, amount, amount)
        assert unit.cost(unit.amounts(cost)) == cost
    finer = Cost(finest / 1000, ZERO, ZERO, ZERO)
    assert 0 < unit.cost(unit.amounts(finer)).epsilon <= finest
    assert unit.amounts(Cost(10 * limit, ZERO, ZERO, ZERO))[0] < CEILING


def test_written_decimals_are_exact():
    unit = resolution("1")
    for text in ("0.1", "0.000000000000001", "0.3", "1"):
        cost = Cost(Fraction(text), ZERO, ZERO, ZERO)
        assert unit.cost(unit.amounts(cost)).epsilon == Fraction(text)


def test_finer_amounts_round_up_never_down():
    unit = resolution("1")
    third = Cost(Fraction(1, 3), ZERO, ZERO, ZERO)
    counted = unit.cost(unit.amounts(third)).epsilon
    assert 0 < counted - Fraction(1, 3) < Fraction(1, 10**15)
    tiny = Cost(Fraction(1, 10**40), ZERO, ZERO, ZERO)
    assert unit.amounts(tiny)[0] == 1


def test_what_cannot_be_expressed_is_the_ceiling_and_comes_back_as_none():
    unit = resolution("1", Fraction(1, 10**9), Fraction(1, 50), Fraction(1, 10**10))
    amounts = unit.amounts(Cost(None, ZERO, None, ZERO))
    assert amounts == (CEILING, 0, CEILING, 0)
    assert unit.cost(amounts) == Cost(None, ZERO, None, ZERO)


def test_a_component_without_limit_still_counts():
    """delta limit 0: any delta must show as more than 0."""
    unit = resolution("1")
    back = unit.cost(unit.amounts(Cost(ZERO, Fraction(1, 10**12), ZERO, ZERO)))
    assert back.delta == Fraction(1, 10**12)
    assert unit.cost(unit.amounts(Cost(ZERO, Fraction(1, 2), ZERO, ZERO))).delta > 0


def test_a_million_tenths_are_exactly_a_hundred_thousand(record_property):
    """Security test 16, the sum itself; floats drift."""
    unit = resolution("100000")
    tenth = unit.amounts(Cost(Fraction(1, 10), ZERO, ZERO, ZERO))[0]
    total = sum(tenth for _ in range(1_000_000))
    assert unit.cost((total, 0, 0, 0)).epsilon == 100_000
    assert sum(0.1 for _ in range(1_000_000)) != 100_000
    record_property("tenths, summed exactly", 1_000_000)
