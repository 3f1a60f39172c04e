"""Ranges of a bare file's numbers: paid for before a row is read, once, by noisy counts alone."""

import re
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import discreet
from discreet.ask.release.desk import PlainDesk
from discreet.base.numbers import Delta, Epsilon
from discreet.base.schema import IntegerDomain, NumberDomain
from discreet.errors import BudgetExceeded, EngineFailed
from discreet.measure import learned_types
from discreet.measure import learned_types as learned_bounds
from discreet.measure.learned_types import is_unbounded, learn_bounds
from discreet.testing import SeededRng

TOML = """
[engine]
url = "duckdb:"
[ledger]
url = "sqlite:ledger.db"
[datasets.p]
epsilon = {epsilon}
[datasets.p.tables.p]
source = "p.csv"
unit = "row"
[datasets.p.tables.p.columns]
age = {{ type = "integer", lower = -1000000000000000, upper = 1000000000000000, missing = true }}
size = {{ type = "number", lower = -1000000000000, upper = 1000000000000, step = 0.0001, missing = true }}
few = {{ type = "integer", lower = 0, upper = 9 }}
"""
COLUMNS = ["age", "size"]


@pytest.fixture
def curator(tmp_path):
    rows = (f"{20 + i % 50},{1.5 * (i % 200)},{i % 9}\n" for i in range(4000))
    (tmp_path / "p.csv").write_text("age,size,few\n" + "".join(rows))
    (tmp_path / "discreet.toml").write_text(TOML.format(epsilon=2))
    with discreet.open(tmp_path / "discreet.toml") as found:
        yield found


def context_of(curator, rng=None):
    return PlainDesk(curator.catalog, curator.ledger, curator.engine, rng or SeededRng(3))


def test_what_is_seen_lies_close_around_the_rows(curator):
    found = learn_bounds("p.p", context_of(curator), epsilon=Epsilon.of("1"), columns=COLUMNS)
    age, size = found["age"], found["size"]
    assert isinstance(age, IntegerDomain)
    assert 15 <= age.lower <= 25
    assert 65 <= age.upper <= 80
    assert isinstance(size, NumberDomain)
    assert size.upper - size.lower < 400
    assert curator.ledger.spent("p").epsilon == 1


def test_the_same_again_is_the_stored_one_and_free(curator):
    asked = {"epsilon": Epsilon.of("1"), "columns": COLUMNS}
    first = learn_bounds("p.p", context_of(curator), **asked)
    again = learn_bounds("p.p", context_of(curator, SeededRng(4)), **asked)
    assert again == first
    assert curator.ledger.spent("p").epsilon == 1
    with pytest.raises(BudgetExceeded):
        learn_bounds("p.p", context_of(curator), epsilon=Epsilon.of("1.5"), columns=COLUMNS)


def test_it_is_charged_before_a_row_is_read(curator, monkeypatch):
    seen, counter = [], learned_bounds.unstored_counter

    def look(*given):
        seen.append(curator.ledger.spent("p").epsilon)
        return counter(*given)

    monkeypatch.setattr(learned_bounds, "unstored_counter", look)
    learn_bounds("p.p", context_of(curator), epsilon=Epsilon.of("1"), columns=COLUMNS)
    assert seen == [1, 1]


def test_numbers_in_steps_of_one_stay_numbers(curator, monkeypatch):
    """A range of some thousands is kept in steps of 1, which are no whole numbers all the same."""
    wide = SimpleNamespace(domain=NumberDomain(Fraction(0), Fraction(5000), Fraction(1)))
    monkeypatch.setattr(learned_bounds, "narrowed", lambda *_: wide)
    found = learn_bounds("p.p", context_of(curator), epsilon=Epsilon.of("1"), columns=["size"])
    assert found == {"size": wide.domain}


def test_types_are_never_learned_from_other_rows_than_were_charged(tmp_path, monkeypatch):
    toml = re.sub(r"= \{ type = .*", '= { type = "text" }', TOML.format(epsilon=2))
    (tmp_path / "discreet.toml").write_text(toml)
    (tmp_path / "p.csv").write_text("age,size,few\n1,2,3\n")
    counted = learned_types._counted

    def changed(*given):
        (tmp_path / "p.csv").write_text("age,size,few\n1,2,3\n4,5,6\n")
        return counted(*given)

    monkeypatch.setattr(learned_types, "_counted", changed)
    with discreet.open(tmp_path / "discreet.toml") as curator:
        asked = {"epsilon": Epsilon.of("1"), "delta": Delta.of("0")}
        with pytest.raises(EngineFailed, match="has changed"):
            learned_types.learn_types("p.p", context_of(curator), **asked)
        assert curator.ledger.spent("p").epsilon == 1


def test_every_column_has_noise_for_its_share(curator, monkeypatch):
    """Laplace noise of scale 1 / (epsilon / columns): by 2,000 cells that no row is in."""
    drawn = []

    def narrowed(_item, measured):
        drawn.append(measured)
        return SimpleNamespace(domain=IntegerDomain(0, 1))

    monkeypatch.setattr(learned_bounds, "narrowed", narrowed)
    learn_bounds("p.p", context_of(curator), epsilon=Epsilon.of("1"), columns=COLUMNS)
    assert len(drawn) == len(COLUMNS)
    for measured in drawn:
        assert measured.variance == pytest.approx(2 * len(COLUMNS) ** 2, rel=0.2)
        far = measured.values[:200]  # the lowest numbers of the type, where nobody is
        assert np.abs(far).max() > 2
        assert np.abs(far).mean() == pytest.approx(len(COLUMNS), rel=0.5)


@pytest.mark.parametrize(
    ("domain", "open_ended"),
    [
        (IntegerDomain(-(10**15), 10**15), True),
        (NumberDomain(Fraction(-(10**12)), Fraction(10**12), Fraction(1, 10_000)), True),
        (IntegerDomain(0, 10**11), False),
        (NumberDomain(Fraction(0), Fraction(1), Fraction(1, 100)), False),
    ],
)
def test_a_range_of_a_type_is_nobodys_declaration(domain, open_ended):
    assert is_unbounded(domain) is open_ended
