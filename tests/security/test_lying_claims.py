"""What a planner says beside its SQL: laws, names, shares, keys and groups. Refused, or harmless."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from curator_kit import risk
from discreet.base.event import Composed, Failing, Gaussian, Laplace, Pure, Select
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    Domain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
)
from discreet.base.unit import Neighbours
from discreet.data.engines.arrow import plain_table
from discreet.data.engines.base import Exact
from discreet.privacy.kernel.look import exact, look
from discreet.privacy.kernel.mechanism import Kind, LargestGroup, Mechanisms, Selection, Stability
from discreet.privacy.kernel.nodes import Unfit
from discreet.privacy.kernel.seal import Draft, MeasureDraft, Read, admit, sealed
from discreet.privacy.noise.laws import GaussianLaw, LaplaceLaw
from discreet.testing import SeededRng
from lying_twins import P, R, V, counted
from lying_world import SCANS, World, read_duckdb
from permits import reading

LAPLACE = LaplaceLaw(Fraction(5))
SOME = Fraction(1, 100)
A = IntegerDomain(-2, 3)


@cache
def world() -> World:
    return World()


def read_of(draft: Draft, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Read:
    return sealed(draft, read_duckdb(world().tree(draft.sql)), SCANS[neighbours])


def units(key: str, table: str = V, name: str = "m0", most: int = 3) -> Draft:
    sql = f"SELECT {key} AS k0, COUNT(DISTINCT t.u) AS r0 FROM {table} AS t WHERE t.r <= {most} GROUP BY 1"
    return Draft(sql, {name: MeasureDraft(Kind.UNITS, (0,))})


COUNTED = counted(f"{R} AS t")
BY_A = counted(f"{R} AS t", key="t.c0")
BINS = Draft(f"SELECT t.c0 AS k0, COUNT(*) AS r0 FROM {R} AS t GROUP BY 1", {}, choice="q0")
CHOSEN = Selection(Fraction(1, 2), Fraction(1), 4)
TOP = LargestGroup(Fraction(1), flip=False)
SAME_NAME = Draft(units("t.c1").sql, {"m0": MeasureDraft(Kind.UNITS, (0,))})
OTHER = Draft(counted(f"{R} AS t").sql, {"m1": MeasureDraft(Kind.ROWS, (0,))})
AS_ROWS = counted(f"{V} AS t WHERE t.r <= 3", key="t.c1")


def _law(law: Any) -> tuple[Mechanisms, tuple[Read, ...]]:
    return Mechanisms({"m0": law}, {}), (read_of(COUNTED),)


def _choice(**changes: Any) -> tuple[Mechanisms, tuple[Read, ...]]:
    return Mechanisms({}, {"q0": replace(CHOSEN, **changes)}), (read_of(BINS),)


REFUSED = {
    "noise of no size": lambda: _law(LaplaceLaw(Fraction(0))),
    "noise of negative size": lambda: _law(LaplaceLaw(Fraction(-3))),
    "a Gaussian of no size": lambda: _law(GaussianLaw(Fraction(0))),
    "a measure without noise": lambda: (Mechanisms({}, {}), (read_of(COUNTED),)),
    "noise without a measure": lambda: (
        Mechanisms({"m0": LAPLACE, "m1": LAPLACE}, {}),
        (read_of(COUNTED),),
    ),
    "a choice without a histogram": lambda: (
        Mechanisms({"m0": LAPLACE}, {"q0": CHOSEN}),
        (read_of(COUNTED),),
    ),
    "a choice that pays back": lambda: _choice(epsilon=Fraction(-1)),
    "a choice for nothing": lambda: _choice(epsilon=Fraction(0)),
    "a quantile above all": lambda: _choice(quantile=Fraction(2)),
    "no bins": lambda: _choice(bins=0),
    "one name for two measures": lambda: (
        Mechanisms({"m0": LAPLACE}, {}, units="m0", failing=SOME),
        (read_of(SAME_NAME), read_of(AS_ROWS)),
    ),
    "a threshold on rows of people": lambda: (
        Mechanisms({"m0": LAPLACE}, {}, units="m0", failing=SOME),
        (read_of(AS_ROWS),),
    ),
    "a threshold on nothing": lambda: (
        Mechanisms({"m0": LAPLACE}, {}, units="m9", failing=SOME),
        (read_of(AS_ROWS),),
    ),
    "a threshold that never fails": lambda: (
        Mechanisms({"m0": LAPLACE}, {}, units="m0"),
        (read_of(units("t.c1")),),
    ),
    "a threshold that fails for certain": lambda: (
        Mechanisms({"m0": LAPLACE}, {}, units="m0", failing=Fraction(1)),
        (read_of(units("t.c1")),),
    ),
    "two datasets under one price": lambda: (
        Mechanisms({"m0": LAPLACE, "m1": LAPLACE}, {}),
        (read_of(COUNTED), replace(read_of(OTHER), dataset="elsewhere")),
    ),
    "the largest group and its count": lambda: (
        Mechanisms({"m0": LAPLACE}, {}, top=TOP),
        (read_of(BY_A),),
    ),
    "the largest of two": lambda: (Mechanisms({}, {}, top=TOP), (read_of(BY_A), read_of(BY_A))),
    "the largest for nothing": lambda: (
        Mechanisms({}, {}, top=replace(TOP, epsilon=Fraction(0))),
        (read_of(BY_A),),
    ),
}


@pytest.mark.parametrize("lie", REFUSED)
def test_it_is_refused(lie: str) -> None:
    with pytest.raises(Unfit):
        admit(*REFUSED[lie]())


def test_reads_of_one_dataset_may_be_several() -> None:
    laws: dict[str, Any] = {"m0": LAPLACE, "m1": LAPLACE}
    assert admit(Mechanisms(laws, {}), (read_of(COUNTED), read_of(OTHER))).laws == laws


def test_bins_of_text_are_refused() -> None:
    with pytest.raises(Unfit):
        read_of(replace(BINS, sql=BINS.sql.replace("t.c0", "t.c2")))


def test_a_claimed_event_sensitivity_or_threshold_is_not_believed() -> None:
    lies = Mechanisms(
        {"m0": LAPLACE}, {}, units="m0", failing=SOME, threshold=-99, event=Pure(Fraction(0))
    )
    found = admit(lies, (read_of(units("t.c1")),))
    assert found.event == Failing(Laplace(Fraction(5), Fraction(3)), SOME)
    assert found.threshold is not None
    assert 3 * risk(LAPLACE, found.threshold, 1) <= SOME
    top = admit(
        Mechanisms({}, {}, top=LargestGroup(Fraction(1), flip=False, sensitivity=0, monotone=True)),
        (read_of(counted(f"{R} AS t", key="t.c0"), Neighbours.REPLACE_ONE),),
    ).top
    assert top is not None
    assert (top.sensitivity, top.monotone) == (1, False)
    chosen = replace(CHOSEN, sensitivity=Fraction(1, 10**6))
    admitted = admit(Mechanisms({}, {"q0": chosen}), (read_of(BINS),))
    assert admitted.selections["q0"].sensitivity == Fraction(1, 2)
    assert admitted.event == Select(Fraction(1))


def test_every_read_is_paid_for() -> None:
    other = read_of(replace(BY_A, measures={"m1": MeasureDraft(Kind.ROWS, (0,))}))
    found = admit(
        Mechanisms({"m0": LAPLACE, "m1": GaussianLaw(Fraction(4))}, {}), (read_of(COUNTED), other)
    )
    assert found.event == Composed(
        (Laplace(Fraction(5), Fraction(1)), Gaussian(Fraction(4), Fraction(1), 1))
    )


def _admitted(neighbours: Neighbours) -> tuple[Fraction, Fraction]:
    """Return the chance that one person shows in a group of their own, and the delta claimed."""
    read = read_of(units("t.c1", most=2), neighbours)
    found = admit(Mechanisms({"m0": LAPLACE}, {}, units="m0", failing=SOME), (read,))
    assert found.threshold is not None
    alone = 2 * neighbours.moves  # two groups of the one who went, two of the one who came
    return alone * risk(LAPLACE, found.threshold, 1), SOME


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_lonely_groups_are_as_rare_as_the_event_says(neighbours: Neighbours) -> None:
    chance, claimed = _admitted(neighbours)
    assert chance <= claimed


def test_a_threshold_that_forgets_the_newcomer_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stability, "coordinates", property(lambda self: self._groups))
    chance, claimed = _admitted(Neighbours.REPLACE_ONE)
    assert chance > claimed


# -- what is looked at -----------------------------------------------------------------------------


class Rows:
    """A database with one row of each table."""

    def __init__(self) -> None:
        self.connection = World().connection
        self.connection.execute(f"INSERT INTO {R} VALUES (3, 1000, 'x'), (1, 0, NULL)")
        self.connection.execute(f"INSERT INTO {V} VALUES (1, 3, 5, 'x', 1), (1, 1, 5, 'y', 2)")
        self.connection.execute(f"INSERT INTO {P} VALUES (1, 3, 5, 'x', 1)")

    def run(self, sql: str) -> Exact:
        return Exact(plain_table(self.connection.sql(sql).to_arrow_table()))


def looked(read: Read, domains: tuple[Domain, ...], groups: Any) -> Any:
    mechanisms = admit(Mechanisms({"m0": LAPLACE}, {}), (read,))
    return look(
        (read,),
        mechanisms,
        domains=domains,
        groups=groups,
        reader=reading(Rows().run),
        rng=SeededRng(1),
    )


@pytest.mark.parametrize(
    ("domains", "groups"),
    [
        ((), [()]),
        ((A, A), [(3, 1)]),
        ((A,), [(3,), (1,), (3,)]),
        ((A,), [(1,), (True,)]),
        ((A,), None),
    ],
    ids=[
        "a key as a measure",
        "a measure as a key",
        "twice",
        "twice, spelled otherwise",
        "private",
    ],
)
def test_keys_and_groups_that_are_not_those_of_the_sql(domains: Any, groups: Any) -> None:
    with pytest.raises(Unfit):
        looked(read_of(BY_A), domains, groups)


@pytest.mark.parametrize("key", ["t.c0", "t.c2"])
@pytest.mark.parametrize(
    "domain",
    [
        A,
        IntegerDomain(7, 9),
        NumberDomain(Fraction(0), Fraction(1), Fraction(1, 2)),
        CategoryDomain(("x",)),
        BooleanDomain(),
        DateDomain(dt.date(2020, 1, 1), dt.date(2020, 1, 2)),
        IdentifierDomain(),
    ],
    ids=lambda domain: type(domain).__name__,
)
def test_a_key_of_another_kind_fails_on_no_row(key: str, domain: Domain) -> None:
    """Values that are not in the domain are NULL, whatever they are, and only listed groups appear."""
    found = looked(read_of(counted(f"{R} AS t", key=key)), (domain,), [(3,), ("x",), (None,)])
    assert found.groups == ((3,), ("x",), (None,))


def test_private_groups_are_those_whose_units_are_counted() -> None:
    """A second read cannot bring in groups that the threshold was not made for."""
    first, second = read_of(units("t.c1")), read_of(units("t.c2", P, "m1"))
    proposed = Mechanisms({"m0": LAPLACE, "m1": LAPLACE}, {}, units="m0", failing=SOME)
    mechanisms = admit(proposed, (first, second))
    found = exact(
        (first, second), mechanisms, (IntegerDomain(-9, 2000),), None, reading(Rows().run)
    )
    assert found.groups == ((1,), (3,))


def test_a_bin_outside_counts_as_the_nearest() -> None:
    read = read_of(BINS)
    mechanisms = admit(Mechanisms({}, {"q0": replace(CHOSEN, bins=2)}), (read,))
    found = exact((read,), mechanisms, (), [()], reading(Rows().run))
    assert np.array_equal(found.histograms["q0"], [[0, 2]])
