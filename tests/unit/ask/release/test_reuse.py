"""Free answers: weighted least squares over what was paid for."""

from fractions import Fraction
from functools import cache

import pytest

import asking
from asking import plan
from discreet.ask.release.answer import finish, implied
from discreet.ask.release.stored_answers import PaidValue, cells_of, paid_values_from, signature
from discreet.privacy.kernel.look import Noisy
from discreet.privacy.noise.laws import LaplaceLaw

ALL = "SELECT COUNT(*) AS n FROM people WHERE sex IS NOT NULL"
MEN = "SELECT COUNT(*) AS n FROM people WHERE sex = 'Male'"
WOMEN = "SELECT COUNT(*) AS n FROM people WHERE sex = 'Female'"


def paid(sql, epsilon, *values, **settings):
    found = plan(sql, epsilon=epsilon, **settings)
    noisy = Noisy(tuple(found.question.groups), {"m0": list(values)}, {})
    return paid_values_from(found.question, noisy, found.mechanisms.laws)


def free(sql, known, epsilon="0.1", **settings):
    found = implied(plan(sql, epsilon=epsilon, **settings), list(known))
    return None if found is None else [row[-1] for row in found.rows]


@cache
def four():
    return (*paid(ALL, "0.5", 2005), *paid(MEN, "0.2", 1001), *paid(WOMEN, "0.25", 995))


def test_the_worked_numbers():
    # 2005, 1001 and 995 contradict each other; weighted by 8, 50 and 32 they become these.
    assert free(ALL, four()) == [pytest.approx(2004.2, abs=0.05)]
    assert free(MEN, four()) == [pytest.approx(1006.0, abs=0.05)]
    assert free(WOMEN, four()) == [pytest.approx(998.2, abs=0.05)]
    grouped = free("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", four())
    assert grouped == [pytest.approx(998.2, abs=0.05), pytest.approx(1006.0, abs=0.05)]


def test_a_difference_is_implied():
    known = (*paid(ALL, "1", 100), *paid(MEN, "1", 40))
    assert free(WOMEN, known) == [pytest.approx(60)]


def test_nothing_is_free_that_a_fresh_answer_would_tell_better():
    assert free(ALL, paid(ALL, "0.5", 2005), epsilon="0.5") == [2005]
    assert free(ALL, paid(ALL, "0.5", 2005), epsilon="0.6") is None


EVERYONE = "SELECT COUNT(*) AS n FROM people"
GROUPED = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


def test_men_and_women_are_not_everyone():
    # A row whose sex is missing or not on the list is in neither group: 702 were shown for 1,000.
    assert free(EVERYONE, four()[1:]) is None
    assert free(EVERYONE, paid(GROUPED, "1", 351, 351)) is None
    lacking = paid(f"{EVERYONE} WHERE sex IS NULL", "1", 298)
    assert free(EVERYONE, (*paid(GROUPED, "1", 351, 351), *lacking)) == [1000]


def test_everyone_says_nothing_of_the_rows_without_a_value():
    # After a paid COUNT(*) this was 0 with an error of 0, where 400 was true.
    assert free(f"{EVERYONE} WHERE age IS NULL", paid(EVERYONE, "1", 1000)) is None
    known = (*paid(EVERYONE, "1", 1000), *paid(f"{EVERYONE} WHERE age >= 0", "1", 600))
    assert free(f"{EVERYONE} WHERE age IS NULL", known) == [400]


def test_men_and_women_imply_everyone_where_sex_is_complete():
    # Complete: rows without a declared sex are left out of every question, also of COUNT(*).
    known = paid(GROUPED, "1", 1001, 995, complete="yes")
    assert free(EVERYONE, known, complete="yes") == [1996]
    assert free(ALL, known, complete="yes") == [1996]
    # What was paid for before that was declared still means what it meant then.
    assert free(EVERYONE, paid(EVERYONE, "1", 2000), complete="yes") is None
    both = (*paid(GROUPED, "1", 1001, 995), *paid(EVERYONE, "1", 2500))
    assert free(EVERYONE, both, complete="yes") == [1996]


def test_other_declarations_are_other_positions(monkeypatch):
    known = paid("SELECT COUNT(*) AS n FROM people WHERE age < 30", "1", 7)
    text = asking.TOML.replace("lower = 0, upper = 120", "lower = 18, upper = 120")
    asking.catalog.cache_clear()
    monkeypatch.setattr(asking, "TOML", text)
    assert free("SELECT COUNT(*) AS n FROM people WHERE age < 48", known) is None
    asking.catalog.cache_clear()


def test_where_values_may_be_missing_the_known_are_not_everyone():
    known = paid("SELECT COUNT(*) AS n FROM people WHERE balance >= 0", "1", 7)
    known += paid("SELECT COUNT(*) AS n FROM people WHERE balance < 0", "1", 5)
    assert free("SELECT COUNT(*) AS n FROM people WHERE balance IS NOT NULL", known) == [12]
    assert free("SELECT COUNT(*) AS n FROM people", known) is None


def test_only_the_same_measure_is_combined():
    abs_of, least = (
        "SELECT SUM(ABS(balance)) FROM people",
        "SELECT SUM(LEAST(balance, 5)) FROM people",
    )
    assert free(least, paid(abs_of, "1", 7)) is None
    assert free(abs_of, paid(abs_of, "1", 7)) == [7]
    one = plan("SELECT SUM(GREATEST(balance, 5)) FROM people").question.measured.measures[0][1]
    two = plan(least).question.measured.measures[0][1]
    assert signature(one, {}) != signature(two, {})


def test_an_alias_does_not_matter():
    known = paid("SELECT SUM(age) FROM people AS p WHERE p.sex = 'Male'", "1", 7)
    assert free("SELECT SUM(q.age) FROM people AS q WHERE q.sex = 'Male'", known) == [7]


def test_grains_are_part_of_what_is_measured():
    wide = "SELECT SUM(income * income * balance) FROM people"
    narrow = f"{wide} WHERE income <= 1"
    first, second = (plan(sql).question.measured.measures[0][1] for sql in (wide, narrow))
    assert first.grain != second.grain
    assert signature(first, {}) != signature(second, {})


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM people WHERE age > balance",
        "SELECT COUNT(DISTINCT sex) FROM people",
        "SELECT COUNT(*) FROM visits",
        "SELECT MEDIAN(age) FROM people",
    ],
)
def test_what_does_not_add_up_over_boxes_is_not_reused(sql):
    found = plan(sql)
    noisy = Noisy(((),), {name: [5] for name in found.mechanisms.laws}, {"q0": [1]})
    assert paid_values_from(found.question, noisy, found.mechanisms.laws) == ()


def test_the_largest_group_is_not_taken_from_counts():
    known = paid("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", "1", 10, 20)
    top = "SELECT sex FROM people GROUP BY sex ORDER BY COUNT(*) DESC LIMIT 1"
    assert implied(plan(top), list(known)) is None


def test_known_numbers_survive_the_ledger():
    law = LaplaceLaw(Fraction(7, 3))
    boxes = cells_of(plan(MEN).question).boxes
    known = PaidValue("census.people", "rows||1|0|1", boxes[0], 12, law)
    assert PaidValue.from_json(known.to_json()) == known


def test_a_fresh_answer_has_the_bars_of_its_own_noise():
    found = plan(ALL, epsilon="0.5")
    table = finish(Noisy(((),), {"m0": [5]}, {}), found.question, found.mechanisms.laws)
    again = implied(found, list(paid(ALL, "0.5", 5)))
    assert again.error95 == table.error95
