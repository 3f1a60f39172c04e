"""One SELECT for the sums, one for each histogram."""

from pathlib import Path

import pytest

from asking import reads
from curator_kit import catalog_of, planned
from discreet.privacy.kernel.mechanism import Kind
from discreet.privacy.kernel.seal import MeasureDraft


def test_sums_share_one_select():
    (read,) = reads("SELECT COUNT(*), SUM(age), AVG(age) FROM people")
    assert read.measures == {
        "m0": MeasureDraft(Kind.ROWS, (0,)),
        "m1": MeasureDraft(Kind.CENTRED, (1, 2), 120),
        "m2": MeasureDraft(Kind.PRESENT, (2,)),
    }
    assert read.sql.count("SELECT") == 1


def test_a_quantile_is_a_histogram_of_positions():
    (read,) = reads("SELECT MEDIAN(age) FROM people WHERE age >= 18")
    assert read.choice == "q0"
    assert "- 18)" in read.sql
    assert read.sql.endswith("GROUP BY 1")


def test_wide_quantiles_are_cut_by_the_engine():
    (read,) = reads("SELECT sex, MEDIAN(income) FROM people GROUP BY sex")
    assert "// CAST((25) AS BIGINT)" in read.sql
    assert read.sql.endswith("GROUP BY 1, 2")


def test_keys_come_first():
    (read,) = reads("SELECT COUNT(*), sex FROM people GROUP BY sex")
    assert read.sql.startswith("SELECT t0.g1 AS k0, COUNT(*) AS r0")
    (read,) = reads("SELECT COUNT(*), sex, age FROM people GROUP BY sex, age")
    assert read.sql.startswith("SELECT t0.c1 AS k0, t0.g0 AS k1, COUNT(*) AS r0")


def test_what_is_clamped_is_computed_once():
    (read,) = reads("SELECT VARIANCE(age * 2 + 1), SUM(age * 2 + 1) FROM people")
    assert read.sql.count("* 2 + 1") == 1
    (read,) = reads("SELECT SUM(age - income), SUM((age - income) * age) FROM people")
    assert read.sql.count("SELECT") == 2  # each in the one SELECT below


@pytest.mark.parametrize("multiple", ["age * 2", "3 * age", "age / 4", "age"])
def test_a_multiple_of_a_column_is_that_column_in_other_steps(multiple):
    (read,) = reads(f"SELECT VARIANCE({multiple}) FROM people")
    (bare,) = reads("SELECT VARIANCE(age) FROM people")
    assert read.sql == bare.sql
    assert "CASE" not in read.sql
    (other,) = reads(f"SELECT SUM(-({multiple})) FROM people")
    assert "CASE" in other.sql


def test_what_is_grouped_by_stays_a_column_of_the_table():
    """Of a computed one the kernel would not see that it is constant for a person."""
    (read,) = reads("SELECT age * 2 + 1 AS k, SUM(age * 2 + 1) AS s FROM people GROUP BY k")
    assert read.sql.startswith("SELECT ((t0.c0) * 2 + 1) AS k0")
    assert read.sql.count("SELECT") == 1
    (read,) = reads("SELECT sex, SUM(age * 2 + 1) AS s FROM people GROUP BY sex")
    assert read.sql.startswith("SELECT t1.g0 AS k0")
    assert "t0.g1 AS g0" in read.sql


@pytest.mark.parametrize("swapped", [False, True])
def test_true_is_another_operand_than_1(swapped):
    """Python calls the two equal: a condition became a number, and a text of four letters one of one."""
    number, truth = (
        "CASE WHEN age > 50 THEN 1 ELSE 0 END",
        "CASE WHEN age > 50 THEN TRUE ELSE FALSE END",
    )
    parts = [f"SUM({number})", f"COUNT_IF({truth})"]
    (read,) = reads(f"SELECT {', '.join(parts[::-1] if swapped else parts)} FROM people")
    assert "THEN 1 ELSE 0 END AS BIGINT) AS c1" in read.sql
    assert "THEN TRUE ELSE FALSE END THEN 1" in read.sql
    lengths = [f"SUM(LENGTH(CAST({each} AS VARCHAR)))" for each in (number, truth)]
    (read,) = reads(f"SELECT {', '.join(lengths[::-1] if swapped else lengths)} FROM people")
    assert len(read.measures) == 2
    assert sorted(read.sql.count(f"> {most} THEN {most}") for most in (1, 5)) == [1, 1]


def test_a_case_holds_each_of_its_values():
    case = "CASE WHEN age > 40 THEN {} END"
    (read,) = reads(f"SELECT AVG({case.format('income')}), COUNT(*) FROM people")
    assert "THEN t0.c2 ELSE NULL END" in read.sql  # a column is its own clamp
    assert read.sql.count("SELECT") == 1
    (read,) = reads(f"SELECT AVG({case.format('age * income')}), COUNT(*) FROM people")
    assert "THEN CASE WHEN t1.c1 > " in read.sql
    assert read.sql.count("* (t0.c2)") == 1  # computed once
    (read,) = reads("SELECT SUM(CASE WHEN sex = 'Male' THEN income ELSE 7 END) FROM people")
    assert "THEN t0.c2 ELSE 700 END" in read.sql
    (read,) = reads("SELECT SUM(CASE WHEN age > 40 THEN age ELSE 500 END) FROM people")
    assert "THEN CASE WHEN t0.c0 > 500 THEN 500 WHEN t0.c0 < 41 THEN 41 ELSE t0.c0 END" in read.sql
    for whole in (
        "CASE WHEN age > 40 THEN income ELSE age END",  # counted in different steps
        "CASE WHEN age > 40 THEN 3 ELSE 5 END",  # nothing but small numbers
    ):
        (read,) = reads(f"SELECT SUM({whole}) FROM people")
        assert "CASE WHEN t1.c0 > " in read.sql


def test_a_long_case_is_computed_once():
    many = " ".join(f"WHEN income > {number} THEN age * income" for number in range(90))
    (read,) = reads(f"SELECT VARIANCE(CASE {many} END) FROM people")
    assert read.sql.count(" > (89") == 1


def test_the_square_of_a_column_needs_no_clamp():
    (read,) = reads("SELECT SUM(age * age) FROM people")
    assert "CAST(t0.c0 AS BIGINT) * CAST(t0.c0 AS BIGINT)" in read.sql
    assert "CASE" not in read.sql
    (read,) = reads("SELECT AVG(age * age), COUNT(age * age) FROM people")
    assert "COUNT(t0.c0) AS r1" in read.sql
    assert "CASE" not in read.sql
    for other in (
        "SUM(age * income)",
        "VARIANCE(age * age)",
        "SUM(age * age), VARIANCE(age * age)",
    ):
        (read,) = reads(f"SELECT {other} FROM people")
        assert "CASE WHEN" in read.sql
        planned(f"SELECT {other} FROM people", catalog_of(Path()))


def test_all_sums_are_read_together():
    (read,) = reads(
        "SELECT COUNT(*), AVG(age), AVG(age * income), COUNT(age * income), "
        "SUM(CASE WHEN age > 40 THEN income END), COUNT_IF(age > 40) FROM people"
    )
    assert sorted(read.measures) == [f"m{i}" for i in range(7)]
    assert "IS NOT NULL" not in read.sql


@pytest.mark.parametrize("other", ["COUNT(sex)", "COUNT(born)", "COUNT(DISTINCT age)"])
def test_only_what_is_clamped_is_counted_by_its_clamp(other):
    planned(f"SELECT {other}, AVG(age * 2 + 1) FROM people GROUP BY sex", catalog_of(Path()))


def test_one_count_does_for_a_mean_and_its_noise():
    (read,) = reads("SELECT sex, AVG(age * income), COUNT(*) FROM people GROUP BY sex")
    assert [asked.places for asked in read.measures.values()] == [(0, 1), (1,), (2,)]
    assert read.sql.count("COUNT(") == 2


def test_a_sum_takes_0_for_nothing():
    case = "CASE WHEN age > 40 THEN {} {}END"
    for value in ("income", "age - 41", "COALESCE(age, 0) - 41"):
        (without,) = reads(f"SELECT SUM({case.format(value, '')}) FROM people")
        (zero,) = reads(f"SELECT SUM({case.format(value, 'ELSE 0 ')}) FROM people")
        assert without == zero
        assert "IS NOT NULL" not in without.sql
    for counted in ("AVG({})", "SUM({}), COUNT(*)", "COUNT({})", "VARIANCE({})"):
        asked = counted.format(case.format("income", ""))
        (read,) = reads(f"SELECT sex, {asked} FROM people GROUP BY sex")
        assert "ELSE 0 END" not in read.sql
    (read,) = reads("SELECT SUM(CASE WHEN age > 40 THEN income ELSE age END) FROM people")
    assert "ELSE (t0.c0) * 100 END" in read.sql
    assert "IS NOT NULL" not in read.sql
    (read,) = reads("SELECT AVG(CASE WHEN age > 40 THEN income ELSE 0 END) FROM people")
    assert "IS NOT NULL" not in read.sql
    # With a literal 0 it would be counted in other steps.
    (read,) = reads("SELECT SUM(CASE WHEN sex = 'Male' THEN age * 2 - 20 END) FROM people")
    assert "ELSE NULL END" in read.sql
    # A clamp that has no 0 would make a number of it.
    (read,) = reads("SELECT SUM(CASE WHEN age > 40 THEN age - 500 END) FROM people")
    assert "ELSE NULL END" in read.sql


def test_squares_of_wide_numbers_are_added_up_as_decimals():
    (read,) = reads("SELECT VARIANCE(income * income) FROM people")
    assert "DECIMAL(19, 0)" in read.sql


def test_the_analysts_words_never_reach_the_engine():
    (read,) = reads("SELECT COUNT(*) AS canary FROM people AS hawk WHERE hawk.age = 7 -- heron")
    assert not any(word in read.sql for word in ("canary", "hawk", "heron"))


@pytest.mark.parametrize("made", ["7", "POSITION('A' IN 'm')", "LENGTH('') - 3"])
def test_a_constant_of_an_inner_select_is_multiplied_in_wide_numbers(made):
    """An engine would read it as 32 bits, and the kernel passes no such product."""
    chosen = "CASE WHEN t.code > 1 THEN t.z ELSE 1 END"
    inner = f"SELECT v.person, v.code, {made} AS z FROM visits AS v"
    planned(f"SELECT SUM({chosen} * {chosen}) FROM ({inner}) AS t", catalog_of(Path()))
