"""The look: which groups are shown, what gets noise, what is dropped, what is chosen among.

The engine is a table that a test writes down; noise is a law that a test can foresee.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    Domain,
    IntegerDomain,
    NumberDomain,
    TextDomain,
    TimestampDomain,
)
from discreet.data.engines.base import Exact, PaidReader
from discreet.privacy.kernel import look as looking
from discreet.privacy.kernel.look import ExactResults, Noisy, canonical, exact, look, noised
from discreet.privacy.kernel.mechanism import Kind, LargestGroup, Mechanisms, Selection
from discreet.privacy.kernel.nodes import Unfit
from discreet.privacy.kernel.rehearsal import SeedRequest
from discreet.privacy.kernel.seal import Draft, MeasureDraft, Read, sealed
from discreet.privacy.noise.laws import LaplaceLaw
from discreet.testing import SeededRng
from kernel_kit import SCANS, duckdb_tree
from permits import permit_of

LETTERS = CategoryDomain(("a", "b", "c"))
SMALL = IntegerDomain(0, 9)


@dataclass(frozen=True)
class Steps:
    """A law that adds 10, 20, 30, ... to the groups in turn."""

    short: int = 0

    def draw(self, size: int, _rng: Any) -> Any:
        return np.arange(1, size + 1 - self.short) * 10


STEPS: Any = Steps()
ANY: Any = SeededRng(1)
HALF = Fraction(1, 2)
CHOSEN = Selection(HALF, Fraction(1), 4, sensitivity=HALF)


def read(
    keys: str = "", *, measures: dict[str, MeasureDraft] | None = None, choice: str | None = None
):
    shown = "".join(f"t.{key} AS k{i}, " for i, key in enumerate(keys.split()))
    by = f" GROUP BY {', '.join(str(i + 1) for i in range(len(keys.split())))}" if keys else ""
    sql = f'SELECT {shown}COUNT(*) AS r0 FROM canon."town.rows" AS t{by}'
    asked = {"m0": MeasureDraft(Kind.ROWS, (0,))} if measures is None else measures
    return sealed(Draft(sql, {} if choice else asked, choice), duckdb_tree(sql), SCANS)


class Answering:
    """An engine that answers each statement with the next of its tables."""

    def __init__(self, *tables: pa.Table) -> None:
        self.tables = list(tables)
        self.seconds: list[float | None] = []

    @property
    def reader(self) -> PaidReader:
        return PaidReader(permit_of("town"), run=self.run, keep=str, private={"rows": "town"})

    def run(self, sql: str, *, seconds: float | None = None) -> Exact:
        self.seconds.append(seconds)
        return Exact(self.tables.pop(0))


def table(*columns: Any) -> pa.Table:
    return pa.table({f"x{i}": column for i, column in enumerate(columns)})


def exactly(
    reads: list[Read],
    tables: list[pa.Table],
    domains: tuple[Domain, ...] = (),
    groups: Any = None,
    mechanisms: Mechanisms | None = None,
) -> ExactResults:
    proposed = mechanisms or Mechanisms({"m0": STEPS}, {}, units="m0")
    return exact(tuple(reads), proposed, domains, groups, Answering(*tables).reader)


# Which groups there are.


def test_listed_groups_are_shown_in_their_order_and_no_other() -> None:
    rows = table(["a", "zzz", "c"], [5, 7, 9])
    found = exactly([read("c1")], [rows], (LETTERS,), [("c",), ("b",), ("a",)])
    assert found.groups == (("c",), ("b",), ("a",))
    assert found.measures == {"m0": [9, 0, 5]}


def test_private_groups_come_by_their_keys_and_missing_ones_first() -> None:
    rows = table(["c", None, "a", "zzz"], [1, 2, 3, 4])
    found = exactly([read("c1")], [rows], (LETTERS,))
    assert found.groups == ((None,), ("a",), ("c",))
    assert found.measures == {"m0": [2, 3, 1]}


def test_private_groups_are_those_of_the_read_that_counts_units() -> None:
    """The other one may hold more: a threshold was made for the first one's only."""
    other = read("c1", measures={"m1": MeasureDraft(Kind.ROWS, (0,))})
    tables = [table(["a"], [3]), table(["a", "b"], [4, 5])]
    found = exactly([read("c1"), other], tables, (LETTERS,))
    assert (found.groups, found.measures) == ((("a",),), {"m0": [3], "m1": [4]})


def test_no_row_is_nobody() -> None:
    found = exactly([read()], [table(pa.array([], pa.int64()))], (), [()])
    assert found.measures == {"m0": [0]}


def test_a_sum_over_nothing_is_zero() -> None:
    found = exactly([read("c1")], [table(["a", "b"], [None, 4])], (LETTERS,))
    assert found.measures == {"m0": [0, 4]}


@pytest.mark.parametrize(
    ("keys", "domains", "choice"),
    [
        ("", (LETTERS,), None),
        ("c1", (), None),
        ("c1", (LETTERS, SMALL), None),
        ("c0", (SMALL,), "q0"),  # its only key is the bin
        ("c1 c0", (), "q0"),
    ],
)
def test_keys_are_those_of_the_sql(
    keys: str, domains: tuple[Domain, ...], choice: str | None
) -> None:
    with pytest.raises(Unfit, match="keys that are not those of the SQL"):
        exactly([read(keys, choice=choice)], [], domains, [()])


def test_one_read_with_other_keys_among_several_is_enough() -> None:
    with pytest.raises(Unfit, match="keys that are not those of the SQL"):
        exactly([read("c1"), read()], [], (LETTERS,), [("a",)])


@pytest.mark.parametrize("groups", [[("a",), ("a",)], [("a",), ("b",), ("a",)]])
def test_a_group_is_listed_once(groups: Any) -> None:
    with pytest.raises(Unfit, match="listed twice"):
        exactly([read("c1")], [], (LETTERS,), groups)


def test_an_answer_of_another_shape_is_not_taken_for_groups() -> None:
    with pytest.raises(ValueError, match="zip"):
        looking._groups(table(["a"]), (LETTERS, SMALL))


def test_groups_of_several_keys_are_told_apart() -> None:
    letters, digits, truths = "ababcc", [0, 0, 1, 1, 0, 1], [True, True, True, True, False, True]
    rows = table(list(letters), digits, truths, [1, 2, 3, 4, 5, 6])
    domains = (LETTERS, SMALL, BooleanDomain())
    listed = [(a, b, c) for a in "abc" for b in (0, 1) for c in (False, True)]
    found = exactly([read("c1 c0 c3")], [rows], domains, listed)
    counts = dict(zip(found.groups, found.measures["m0"], strict=True))
    assert {group: count for group, count in counts.items() if count} == {
        ("a", 0, True): 1,
        ("b", 0, True): 2,
        ("a", 1, True): 3,
        ("b", 1, True): 4,
        ("c", 0, False): 5,
        ("c", 1, True): 6,
    }


def test_each_pair_of_keys_is_a_group_of_its_own() -> None:
    pairs = [(a, b) for a in range(4) for b in range(3)]
    rows = table([a for a, _ in pairs], [b for _, b in pairs], list(range(1, 13)))
    found = exactly([read("c0 c6")], [rows], (SMALL, SMALL))
    assert found.groups == tuple(pairs)
    assert found.measures["m0"] == list(range(1, 13))


def test_no_rows_have_no_groups() -> None:
    rows = table(pa.array([], pa.string()), pa.array([], pa.int64()), pa.array([], pa.int64()))
    assert exactly([read("c1 c0")], [rows], (LETTERS, SMALL)).groups == ()


def test_keys_in_several_dictionaries_are_the_same_keys() -> None:
    parts = [pa.array(part).dictionary_encode() for part in (["b", "a"], ["a", None])]
    keys = pa.chunked_array(parts)
    found = exactly([read("c1")], [pa.table({"k": keys, "n": [1, 2, 3, 4]})], (LETTERS,))
    assert dict(zip(found.groups, found.measures["m0"], strict=True)) == {
        ("b",): 1,
        ("a",): 5,
        (None,): 4,
    }


# Histograms.


def binned(
    keys: str, rows: pa.Table, domains: tuple[Domain, ...], groups: Any, bins: int = 4
) -> Any:
    chosen = Mechanisms({}, {"q0": replace(CHOSEN, bins=bins)})
    found = exactly([read(keys, choice="q0")], [rows], domains, groups, chosen)
    return found.histograms["q0"].tolist()


def test_a_bin_outside_counts_as_the_nearest_and_a_missing_one_as_none() -> None:
    rows = table([-5, 0, 2, 3, 4, 99, None], [1, 2, 4, 8, 16, 32, 64])
    assert binned("c0", rows, (), [()]) == [[3, 0, 4, 56]]


def test_each_group_has_its_own_bins() -> None:
    rows = table(["b", "a", "zzz", "b"], [0, 1, 1, 3], [5, 6, 7, 8])
    listed = [("a",), ("b",), ("c",)]
    expected = [[0, 6, 0, 0], [5, 0, 0, 8], [0, 0, 0, 0]]
    assert binned("c1 c0", rows, (LETTERS,), listed) == expected


def test_counts_of_one_bin_add_up() -> None:
    assert binned("c0", table([7, 8, 3], [1, 1, 1]), (), [()]) == [[0, 0, 0, 3]]


def test_private_groups_of_a_histogram_are_those_of_the_count() -> None:
    reads = [read("c1 c0", choice="q0"), read("c1")]
    tables = [table(["a", "b"], [1, 2], [3, 4]), table(["a"], [9])]
    proposed = Mechanisms({"m0": STEPS}, {"q0": CHOSEN}, units="m0")
    found = exactly(reads, tables, (LETTERS,), None, proposed)
    assert found.groups == (("a",),)
    assert found.histograms["q0"].tolist() == [[0, 3, 0, 0]]


def test_without_groups_nothing_is_chosen() -> None:
    assert binned("c1 c0", table(["a"], [1], [1]), (LETTERS,), []) == []
    found = ExactResults((), {}, {"q0": np.zeros((0, 4), dtype=np.int64)})
    assert noised(found, Mechanisms({}, {"q0": CHOSEN}), ANY).choices == {"q0": []}


# Noise.


def test_every_group_gets_noise() -> None:
    found = ExactResults((("a",), ("b",)), {"m0": [1, 2], "m1": [5, 6]}, {})
    noisy = noised(found, Mechanisms({"m0": STEPS, "m1": STEPS}, {}), ANY)
    assert noisy == Noisy((("a",), ("b",)), {"m0": [11, 22], "m1": [15, 26]}, {})


def test_a_law_that_draws_too_little_shows_nothing() -> None:
    found = ExactResults((("a",), ("b",)), {"m0": [1, 2]}, {})
    short: Any = Steps(short=1)
    with pytest.raises(ValueError, match="zip"):
        noised(found, Mechanisms({"m0": short}, {}), ANY)


def test_a_group_appears_from_the_threshold_on_with_all_that_is_known_of_it() -> None:
    histograms = np.array([[10**6, 0], [0, 10**6], [10**6, 0]])
    found = ExactResults(
        (("a",), ("b",), ("c",)), {"m0": [39, 30, 19], "m1": [1, 2, 3]}, {"q0": histograms}
    )
    proposed = Mechanisms(
        {"m0": STEPS, "m1": STEPS},
        {"q0": replace(CHOSEN, bins=2)},
        units="m0",
        threshold=50,
    )
    noisy = noised(found, proposed, ANY)
    # 39 + 10 stays below, 30 + 20 is just enough, 19 + 30 is not.
    assert noisy == Noisy((("b",),), {"m0": [50], "m1": [22]}, {"q0": [1]}, threshold=50)


def test_private_groups_that_were_not_admitted_are_not_shown() -> None:
    found = ExactResults((("a",),), {"m0": [10**6]}, {})
    with pytest.raises(Unfit, match="were not admitted"):
        noised(found, Mechanisms({"m0": STEPS}, {}, units="m0"), ANY)
    with pytest.raises(Unfit, match="were not admitted"):
        looking._above_threshold((), {}, {}, Mechanisms({}, {}, threshold=5))


@pytest.mark.parametrize("flip", [False, True])
def test_the_largest_group_is_shown_alone(flip: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def choose(name: str) -> Any:
        def chosen(counts: Any, sensitivity: int, epsilon: Fraction, **others: Any) -> int:
            asked.append((name, counts.tolist(), sensitivity, epsilon, others))
            return 1

        return chosen

    for name in ("exponential", "permute_and_flip"):
        monkeypatch.setattr(looking, name, choose(name))
    top = LargestGroup(Fraction(1, 3), flip=flip, sensitivity=4, monotone=True)
    found = ExactResults((("a",), ("b",)), {"m0": [5, 6]}, {})
    assert noised(found, Mechanisms({}, {}, top=top), ANY) == Noisy((("b",),), {}, {})
    name = "permute_and_flip" if flip else "exponential"
    assert asked == [(name, [5, 6], 4, Fraction(1, 3), {"monotone": True, "rng": ANY})]


@pytest.mark.parametrize(
    ("quantile", "utilities", "sensitivity"),
    [
        # Rows 1, 2, 4 in three bins, which hold the ranks 0 to 1, 1 to 3, 3 to 7; rank 3.5, times 2.
        (HALF, [-5, -1, 0], 10),
        # Rank 1.75 and rank 5.25, times 4.
        (Fraction(1, 4), [-3, 0, -5], 20),
        (Fraction(3, 4), [-17, -9, 0], 20),
        (Fraction(0), [0, -1, -3], 5),
        (Fraction(1), [-6, -4, 0], 5),
    ],
)
def test_a_bin_is_worth_as_little_as_it_misses_the_rank(
    quantile: Fraction,
    utilities: list[int],
    sensitivity: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def rows(found: Any, moved: Any, epsilon: Fraction, *, rng: Any) -> Any:
        asked.append((found.tolist(), moved, epsilon, rng))
        return np.array([2, 0])

    monkeypatch.setattr(looking, "exponential_rows", rows)
    histograms = np.array([[1, 2, 4], [0, 0, 0]])
    found = ExactResults((("a",), ("b",)), {}, {"q0": histograms})
    selection = Selection(quantile, Fraction(1, 3), 3, sensitivity=Fraction(5))
    chosen = noised(found, Mechanisms({}, {"q0": selection}), ANY).choices["q0"]
    assert chosen == [2, 0]
    assert asked == [([utilities, [0, 0, 0]], sensitivity, Fraction(1, 3), ANY)]


# The whole of it.

LAPLACE = LaplaceLaw(Fraction(1))


def looked(mechanisms: Mechanisms, groups: Any, **settings: Any) -> Noisy:
    found = settings.pop("found", None) or read("c1")
    reader = settings.pop("reader", None) or Answering(table(["a", "b"], [100, 200]))
    return look(
        (found,),
        mechanisms,
        domains=(LETTERS,),
        groups=groups,
        reader=reader.reader,
        **{"rng": ANY, **settings},
    )


def test_groups_are_private_exactly_where_there_is_a_threshold() -> None:
    public = Mechanisms({"m0": STEPS}, {})
    private = replace(public, units="m0", threshold=200)
    assert looked(public, [("b",), ("a",)]).measures == {"m0": [210, 120]}
    assert looked(private, None) == Noisy((("b",),), {"m0": [220]}, {}, threshold=200)
    for mechanisms, groups in ((public, None), (private, [("a",)])):
        with pytest.raises(Unfit, match="private groups without a threshold, or public ones"):
            looked(mechanisms, groups)


def test_the_engine_is_told_how_long_it_may_take() -> None:
    reader = Answering(table(["a"], [1]))
    looked(Mechanisms({"m0": STEPS}, {}), [("a",)], reader=reader, seconds=2.5)
    assert reader.seconds == [2.5]


class NoWords:
    """A generator that must not be asked."""

    def words(self, _count: int) -> Any:
        raise AssertionError("noise of another kind was asked for")


def test_a_rehearsal_is_noise_of_its_seed_over_public_rows_only() -> None:
    request = SeedRequest(7, "how many?")
    laplace = Mechanisms({"m0": LAPLACE}, {})
    shown = replace(read("c1"), public_rows=True)
    first, again = (
        looked(laplace, [("a",), ("b",)], found=shown, rehearsal=request, rng=NoWords())
        for _ in range(2)
    )
    assert first == again
    with pytest.raises(Unfit, match="nobody declared public"):
        looked(laplace, [("a",)], rehearsal=request, reader=Answering())
    with pytest.raises(AssertionError, match="noise of another kind"):
        looked(laplace, [("a",)], rng=NoWords())


# Keys as declared values.

QUARTERS = NumberDomain(Fraction(-1), Fraction(1), Fraction(1, 4))
DAYS = DateDomain(dt.date(2024, 1, 2), dt.date(2024, 1, 3))
HOURS = TimestampDomain(dt.datetime(1970, 1, 1, 1), dt.datetime(1970, 1, 1, 3), 3600)


@pytest.mark.parametrize(
    ("domain", "value", "expected"),
    [
        (SMALL, 0, 0),
        (SMALL, 9, 9),
        (SMALL, -1, None),
        (SMALL, 10, None),
        (SMALL, Decimal(7), 7),
        (SMALL, Decimal("7.5"), None),
        (SMALL, Decimal("NaN"), None),
        (SMALL, Decimal("Infinity"), None),
        (SMALL, "7", None),
        (SMALL, 7.0, None),
        (QUARTERS, -4, Fraction(-1)),
        (QUARTERS, 3, Fraction(3, 4)),
        (QUARTERS, 5, None),
        (QUARTERS, -5, None),
        (QUARTERS, "3", None),
        (LETTERS, "a", "a"),
        (LETTERS, "A", None),
        (LETTERS, 3, None),
        (BooleanDomain(), True, True),
        (BooleanDomain(), False, False),
        (BooleanDomain(), 1, None),
        (DAYS, dt.date(2024, 1, 2), dt.date(2024, 1, 2)),
        (DAYS, dt.date(2024, 1, 1), None),
        (DAYS, dt.date(2024, 1, 4), None),
        (DAYS, dt.datetime(2024, 1, 3), dt.date(2024, 1, 3)),
        (DAYS, dt.datetime(2024, 1, 3, 5), None),
        (DAYS, "2024-01-03", None),
        (HOURS, 1, dt.datetime(1970, 1, 1, 1)),
        (HOURS, 3, dt.datetime(1970, 1, 1, 3)),
        (HOURS, 0, None),
        (HOURS, 4, None),
        (HOURS, "1", None),
        (TextDomain(), "x", "x"),
        (SMALL, None, None),
        (BooleanDomain(), None, None),
        (HOURS, None, None),
        (TextDomain(), None, None),
    ],
)
def test_a_key_is_its_declared_value_or_none(domain: Domain, value: Any, expected: Any) -> None:
    found = canonical(value, domain)
    assert (found, type(found)) == (expected, type(expected))


def test_moments_are_counted_from_1970() -> None:
    domain = TimestampDomain(dt.datetime(2000, 1, 1), dt.datetime(2030, 1, 1))
    assert canonical(1_700_000_000, domain) == dt.datetime(2023, 11, 14, 22, 13, 20)
