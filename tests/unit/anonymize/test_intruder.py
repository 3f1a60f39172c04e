import pytest

from discreet.anonymize.risk import ASSUMED_PART, ClassSizes, risk_of


def test_a_prosecutor_guesses_within_the_class():
    risk = risk_of(ClassSizes.of([1, 4, 5]))
    assert risk.prosecutor.highest == 1
    assert risk.prosecutor.average == pytest.approx(3 / 10)
    assert risk.prosecutor.rows_above == pytest.approx((1 + 4) / 10)
    assert risk.marketer == pytest.approx(3 / 10)


def test_a_journalist_knows_less_than_a_prosecutor():
    sizes = ClassSizes.of([1, 4, 5])
    risk = risk_of(sizes, 1000)
    assert risk.journalist.average < risk.prosecutor.average
    assert risk.journalist.highest < risk.prosecutor.highest
    same = risk_of(sizes, 10)
    assert same.journalist.average == pytest.approx(same.prosecutor.average)


def test_an_unknown_population_is_assumed_and_said():
    risk = risk_of(ClassSizes.of([1, 9]))
    assert risk.assumed
    assert risk.population == round(10 / ASSUMED_PART)
    assert not risk_of(ClassSizes.of([1, 9]), 500).assumed
    assert risk_of(ClassSizes.of([5]), 2).population == 5, (
        "a file is never larger than its population"
    )


def test_json_names_every_kind():
    found = risk_of(ClassSizes.of([1, 2, 3]), 60).to_json()
    assert set(found["population_uniques"]) == {"pitman", "zayatz", "snb", "argus"}
    assert found["sample_uniques"] == pytest.approx(1 / 6)
    assert set(found) >= {"prosecutor", "journalist", "marketer"}
