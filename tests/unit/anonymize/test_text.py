import pytest

from discreet.anonymize.diversity import Diversity
from discreet.anonymize.report import diversity_words, homogeneous_words, measured_words, percent
from discreet.anonymize.risk import ClassSizes, MeasuredTable, risk_of


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0, "0.00%"),
        (0.00001, "below 0.01%"),
        (0.0123, "1.23%"),
        (0.465, "46.5%"),
        (None, "none found"),
    ],
)
def test_shares_for_people(share, words):
    assert percent(share) == words


def varied(alike):
    return Diversity("ill", 1 if alike else 2, 1.5, 3.0, 0.25, 0.1, alike, alike / 2)


def test_the_homogeneity_attack_is_told_in_the_tables_own_numbers():
    said = homogeneous_words(varied(0.2))
    assert "20.0% of the classes" in said
    assert "10.0% of all rows" in said
    assert "discreet attack intersection" in said
    assert len(diversity_words(varied(0.2))) == 2
    assert len(diversity_words(varied(0.0))) == 1


def test_check_says_everything_once():
    sizes = ClassSizes.of([1, 1, 2, 6])
    found = MeasuredTable(("zip", "age"), sizes, risk_of(sizes, 1000), (varied(0.2),))
    said = "\n".join(measured_words("people.csv", found))
    for words in (
        "10 rows",
        "knows zip, age",
        "k = 1",
        "20.0% of rows are unique",
        "prosecutor",
        "journalist",
        "marketer",
        "population of 1,000 (as stated)",
        "pitman",
        "disagree",
        "not a guarantee",
    ):
        assert said.count(words) == 1, words
