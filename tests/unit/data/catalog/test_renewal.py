"""A budget that renews: once a period, never by a clock that goes back, never beyond what was declared."""

import datetime as dt
from pathlib import Path

import pytest

from discreet.base.numbers import Delta, Epsilon
from discreet.data.catalog.catalog import Every, Renewal
from discreet.data.catalog.edits import with_new_name, with_renewal
from discreet.data.catalog.policy_file import loads
from discreet.errors import CatalogError, InvalidInput

TEXT = """# the town
[datasets.town]
epsilon = 1  # in all
delta = 1e-6
alert = 0.5
renew = { every = "quarter", since = "2026-Q4", epsilon = 0.5, delta = 1e-6, share = 0.1, at_most = 2 }

[datasets.town.tables.people]
source = "people.csv"
unit = "row"

[datasets.town.tables.people.columns]
age = { type = "integer", lower = 0, upper = 99 }

[analysts.ann]
datasets = { town = { epsilon = 0.3 } }
"""
NOVEMBER, JANUARY, APRIL = dt.date(2026, 11, 15), dt.date(2027, 1, 1), dt.date(2027, 4, 30)


def read(text):
    return loads(text, base=Path())


def renewed(text, day):
    new = with_renewal(text, read(text), "town", day)
    return new, read(new).budgets["town"].renewal.granted[-1]


def policy(**changes):
    settings = {
        "every": Every.QUARTER,
        "since": "2026-Q4",
        "epsilon": Epsilon.of(1),
        "delta": Delta.of(0),
    }
    return Renewal(**(settings | {"share": None, "at_most": 3} | changes))


@pytest.mark.parametrize(
    ("every", "day", "name"),
    [
        (Every.MONTH, NOVEMBER, "2026-11"),
        (Every.QUARTER, JANUARY, "2027-Q1"),
        (Every.QUARTER, dt.date(2027, 12, 31), "2027-Q4"),
        (Every.YEAR, APRIL, "2027"),
    ],
)
def test_periods_have_names(every, day, name):
    assert every.period(day) == name


@pytest.mark.parametrize("every", Every)
def test_later_days_never_have_smaller_names(every):
    days = [dt.date(2025, 12, 1) + dt.timedelta(days=n) for n in range(800)]
    names = [every.period(day) for day in days]
    assert names == sorted(names)


def test_a_renewal_raises_total_delta_and_shares_and_notes_its_period():
    text, period = renewed(TEXT, JANUARY)
    catalog = read(text)
    budget = catalog.budgets["town"]
    assert (period, budget.renewal.granted) == ("2027-Q1", ("2027-Q1",))
    assert (str(budget.epsilon), budget.delta) == ("1.5", Delta.of("2e-6"))
    assert str(catalog.analysts["ann"]["town"].epsilon) == "0.4"
    assert "# the town" in text
    assert "# in all" in text


def test_what_a_person_can_lose_over_all_periods_never_grows_by_renewing():
    now, promised = TEXT, read(TEXT).budgets["town"]
    for day in (JANUARY, APRIL):
        now, _ = renewed(now, day)
        budget = read(now).budgets["town"]
        assert budget.renewal.lifetime(budget.epsilon) == promised.renewal.lifetime(
            promised.epsilon
        )
    assert str(budget.epsilon) == "2"
    assert "can lose epsilon 2" in budget.renewal.words(budget.epsilon)


@pytest.mark.parametrize(
    ("days", "said"),
    [
        ([NOVEMBER], "2026-Q4 is in force already"),
        ([JANUARY, dt.date(2027, 3, 31)], "2027-Q1 is in force already"),
        ([APRIL, JANUARY], "clock says 2027-Q1, and 2027-Q2 was granted"),
        ([dt.date(2099, 1, 1), APRIL], "2099-Q1 was granted"),
        ([JANUARY, APRIL, dt.date(2027, 7, 1)], "All 2 renewals"),
    ],
)
def test_nothing_is_renewed_twice_backwards_or_beyond(days, said):
    text = TEXT
    for day in days[:-1]:
        text, _ = renewed(text, day)
    with pytest.raises(InvalidInput, match=said):
        renewed(text, days[-1])


def test_periods_that_were_missed_are_not_made_up_for():
    text, _ = renewed(TEXT, dt.date(2028, 1, 1))
    assert str(read(text).budgets["town"].epsilon) == "1.5"


@pytest.mark.parametrize(
    "changes",
    [
        {"granted": ("2026-Q4",)},
        {"granted": ("2027-Q2", "2027-Q1")},
        {"granted": ("2027-Q1", "2027-Q1")},
        {"granted": ("2027-01",)},
        {"since": "soon"},
        {"at_most": 0},
        {"granted": ("2027-Q1", "2027-Q2"), "at_most": 1},
    ],
)
def test_a_policy_that_contradicts_itself_is_refused(changes):
    with pytest.raises(CatalogError, match="renew"):
        policy(**changes)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"quarter"', '"week"', "'every' is"),
        ("alert = 0.5", "alert = 2", "alert"),
        ("at_most = 2", 'at_most = "two"', "renew"),
    ],
)
def test_a_wrong_setting_is_one_sentence(old, new, said):
    with pytest.raises(CatalogError, match=said):
        read(TEXT.replace(old, new))


def test_a_budget_without_a_policy_does_not_renew():
    text = "\n".join(line for line in TEXT.splitlines() if not line.startswith("renew")) + "\n"
    with pytest.raises(CatalogError, match="does not renew"):
        renewed(text, JANUARY)


def test_a_renamed_dataset_keeps_its_policy():
    before, _ = renewed(TEXT.partition("\n[analysts")[0], JANUARY)
    text = with_new_name(before, "town", "city")
    assert read(text).budgets["town"] == read(before).budgets["town"]
    again = with_renewal(text, read(text), "city", APRIL)
    assert str(read(again).budgets["town"].epsilon) == "2"
