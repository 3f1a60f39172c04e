import math

import pytest

from discreet.anonymize.risk import NO_GUARANTEE, measure
from discreet.anonymize.source import open_source
from discreet.errors import CatalogError, InvalidInput, UnknownName

ROWS = """zip;sex;age;disease
02138;F;30;flu
02138;F;30;flu
02138;M;40;flu
02138;M;40;cold
02139;;50;ache
02139;;50;ache
02139;;50;flu
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("check") / "people.csv"
    path.write_text(ROWS)
    with open_source(str(path)) as found:
        yield found


def test_classes_are_counted_and_missing_is_a_value(source):
    found = measure(source, ["ZIP", "sex"])
    assert found.quasi == ("zip", "sex")
    assert (found.sizes.rows, found.sizes.count, found.sizes.k) == (7, 3, 2)
    assert found.sizes.discernibility == 4 + 4 + 9
    assert measure(source, ["zip", "sex", "disease"]).sizes.uniques == 3


def test_diversity_by_hand(source):
    (found,) = measure(source, ["zip", "sex"], sensitive=["disease"]).diversity
    assert found.distinct == 1
    assert found.entropy == pytest.approx(1)
    assert found.recursive_c == math.inf
    assert found.ordered_t is None
    # flu 4/7, ache 2/7, cold 1/7; the class of two flus is 3/7 away.
    assert found.t == pytest.approx(3 / 7)
    assert found.homogeneous_classes == pytest.approx(1 / 3)
    assert found.homogeneous_rows == pytest.approx(2 / 7)


def test_numbers_have_an_order(source):
    (found,) = measure(source, ["sex"], sensitive=["age"]).diversity
    # All 30 against 2/7, 4/7, 1: (5/7 + 3/7) over the two steps between three ages.
    assert found.ordered_t == pytest.approx((5 / 7 + 3 / 7) / 2)


def test_json_is_plain_and_honest(source):
    found = measure(source, ["zip"], sensitive=["disease"], population=70).to_json()
    assert found["k"] == 3
    assert found["says"] == NO_GUARANTEE
    assert found["risk"]["population"] == 70
    assert found["sensitive"]["disease"]["l"] == 2


@pytest.mark.parametrize(
    ("quasi", "sensitive", "population", "said"),
    [
        (["height"], [], None, "no column 'height'"),
        ([], [], None, "Say which columns"),
        (["zip", "Zip"], [], None, "named twice"),
        (["zip"], ["zip"], None, "cannot be quasi-identifier and sensitive"),
        (["zip"], [], 0, "at least one person"),
    ],
)
def test_mistakes_are_said(source, quasi, sensitive, population, said):
    with pytest.raises(InvalidInput, match=said):
        measure(source, quasi, sensitive=sensitive, population=population)


def test_a_condition_keeps_rows(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(ROWS)
    with open_source(str(path), where="age < 45 AND sex = 'F'") as found:
        assert measure(found, ["zip"]).sizes.rows == 2
    with open_source(str(path), where="age > 90") as nobody, pytest.raises(InvalidInput) as error:
        measure(nobody, ["zip"])
    assert "no rows that --where keeps" in str(error.value)


def test_files_that_are_no_tables(tmp_path):
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    for written, said in ((empty, "is empty"), (tmp_path / "not-there.csv", "no file")):
        with pytest.raises(InvalidInput, match=said), open_source(str(written)):
            pass
    with (
        pytest.raises((UnknownName, CatalogError), match="no file 'people'"),
        open_source("people", config=tmp_path / "discreet.toml"),
    ):
        pass
