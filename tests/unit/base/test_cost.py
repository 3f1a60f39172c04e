"""Prices add up component by component."""

from fractions import Fraction

from discreet.base.event import FREE, Cost


def cost(epsilon, delta="0", rho="0", rho_delta="0"):
    exact = [None if part is None else Fraction(part) for part in (epsilon, delta, rho, rho_delta)]
    return Cost(*exact)


def test_sums():
    assert cost("0.1", "1e-9", "0.2") + cost("0.2", "2e-9", "0.3") == cost("0.3", "3e-9", "0.5")
    assert cost("0.1") + FREE == cost("0.1")


def test_what_cannot_be_expressed_stays_so():
    assert (cost(None, rho="1") + cost("5", rho="1")).epsilon is None
    assert str(cost(None)) == "no finite epsilon"


def test_json_and_back():
    for given in (cost("1/3", "1e-9", None), cost(None, "0", "2")):
        assert Cost.from_json(given.to_json()) == given


def test_words():
    assert str(cost("0.25")) == "epsilon 0.25"
    assert str(cost("0.25", "1e-9")) == "epsilon 0.25, delta 1e-9"
