import datetime as dt
import uuid
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.data.catalog.guess import _decimals, guess_column
from discreet.data.catalog.profile import Profile


def guess(values, name="x", copies=10, kind=None):
    """The proposal for a column in which each value occurs `copies` times, None being NULL."""
    array = pa.array(values, type=kind)
    counts = np.full(len(array), copies, dtype=np.int64)
    known = np.asarray(array.is_valid())
    return guess_column(Profile(name, int(counts.sum()), 0, array, counts).keep(known))


def settings(values, **options):
    found = dict(guess(values, **options).settings)
    found.pop("review", None)
    return found


def test_whole_numbers_get_round_bounds():
    assert settings(range(17, 91)) == {"type": "integer", "lower": 0, "upper": 100}
    assert settings([str(i) for i in range(17, 91)])["upper"] == 100


def test_texts_that_are_mostly_numbers():
    texts = [str(i) for i in range(1000, 4000, 10)] + ["?", "twelve"]
    found = guess(texts, copies=1)
    assert found.settings["type"] == "integer"
    assert any("Read as missing: '?'" in note for note in found.seen)
    assert any("1 row is not whole numbers" in note for note in found.seen)


def test_one_decimal_makes_numbers_of_all():
    texts = [str(i) for i in range(1000, 4000, 10)]
    assert settings([*texts, "7.25"], copies=1)["step"] == Decimal("0.01")


def test_whole_numbers_in_other_spellings():
    whole = {"type": "integer", "lower": 0, "upper": 100_000}
    assert settings(["1e+05", "20", "35.0"]) == whole
    assert settings([1.0, 90_000.0]) == whole


def test_codes_with_leading_zeros_are_not_numbers():
    assert settings(["02138", "02139", "10001"])["type"] == "category"


def test_decimals_get_a_step():
    cents = settings(["1.50", "2.25", "99.99"])
    assert cents["type"] == "number"
    assert (cents["lower"], cents["upper"]) == (Decimal(0), Decimal(100))
    assert cents["step"] == Decimal("0.01")
    assert settings([0.125, 0.5])["step"] == Decimal("0.001")
    assert settings([1e-9, 0.123456789])["step"] == Decimal("1E-7")


def test_floats_that_are_not_numbers_are_missing():
    assert settings([1.5, 2.5])["type"] == "number"
    assert settings(["1.5", "2.5", "nan"])["upper"] == Decimal(3)


def test_booleans():
    assert settings([True, False]) == {"type": "boolean"}
    assert settings(["true", "false", ""]) == {"type": "boolean", "missing": True}
    assert settings(["yes", "no"]) == {"type": "category", "values": ("no", "yes")}


DATES = {
    "%Y-%m-%d": None,
    "%d.%m.%Y": "%d.%m.%Y",
    "%d/%m/%Y": "%d/%m/%Y",
    "%m/%d/%Y": "%m/%d/%Y",
    "%d-%m-%Y": "%d-%m-%Y",
    "%Y/%m/%d": "%Y/%m/%d",
    "%d %b %Y": "%d %b %Y",
    "%b %d, %Y": "%b %d, %Y",
}


@pytest.mark.parametrize("spelled", DATES)
def test_dates_in_several_spellings(spelled):
    days = [dt.date(2019, 3, 5) + dt.timedelta(days=11 * i) for i in range(60)]
    found = settings([day.strftime(spelled) for day in days])
    assert found.pop("format", None) == DATES[spelled]
    assert found == {"type": "date", "lower": dt.date(2019, 1, 1), "upper": dt.date(2020, 12, 31)}


def test_day_and_month_that_cannot_be_told_apart():
    found = guess(["01/02/2020", "03/04/2020"])
    assert found.settings["type"] == "date"
    assert any("cannot be told apart" in note for note in found.seen)


def test_timestamps():
    noon = dt.datetime(2020, 5, 1, 12, 30, 15)
    wanted = {
        "type": "timestamp",
        "lower": dt.datetime(2020, 1, 1),
        "upper": dt.datetime(2020, 12, 31, 23, 59, 59),
    }
    assert settings([noon]) == wanted
    assert settings([str(noon), noon.isoformat(sep=" ")]) == wanted
    assert settings([dt.datetime(2020, 5, 1)])["type"] == "date"


def test_identifiers():
    assert settings([str(uuid.UUID(int=i)) for i in range(300)])["type"] == "identifier"
    assert settings(range(5000), name="n", copies=1)["type"] == "identifier"
    assert settings(range(0, 10**6, 100), name="patientId", copies=3)["type"] == "identifier"
    assert settings([f"a{i}@b.c" for i in range(300)], copies=1)["type"] == "identifier"


def test_a_measure_is_no_identifier():
    assert settings(range(0, 10**6, 100), name="income", copies=3)["type"] == "integer"
    assert settings(range(0, 10**6, 100), name="paid", copies=1)["type"] == "integer"
    assert settings([1, 2, 3], name="group_id")["type"] == "integer"


def test_free_text_is_hidden():
    found = guess([f"a long story number {i}" for i in range(500)], copies=1)
    assert found.settings == {"type": "text", "hidden": True}


def test_many_codes_are_left_to_a_public_list():
    found = guess([f"K{i}" for i in range(1000)], copies=50)
    assert found.settings == {"type": "text", "hidden": True}
    assert any("values_from" in note for note in found.seen)


def test_categories_are_sorted_and_rare_ones_are_said():
    found = guess(["b", "a", "?"], copies=3)
    assert found.settings["values"] == ("a", "b")
    assert found.settings["missing"] is True
    assert "missing" not in guess(["b", "a"]).settings
    assert any("fewer than 5 rows" in note for note in found.seen)
    assert any("33.3% of the rows" in note for note in found.seen)


def test_empty_columns():
    for values, kind in (([None], pa.string()), ([None], pa.int64()), (["?", ""], pa.string())):
        found = guess(values, kind=kind)
        assert found.settings == {"type": "text", "hidden": True}


def test_strange_types_are_hidden():
    assert settings([[1, 2], [3]])["hidden"]


def test_padding_is_declared_never_removed_in_silence():
    found = guess([" 39", " 50"])
    assert found.settings["type"] == "integer"
    assert found.settings["trim"] is True
    assert settings([" Male", "Female"]) == {
        "type": "category",
        "values": ("Female", "Male"),
        "trim": True,
    }
    assert "trim" not in settings(["Male", "Female"])


def test_spellings_are_merged_by_what_is_declared():
    found = settings(["F", "f", "Female", "female ", "Male", "M", "n/a"])
    assert found == {
        "type": "category",
        "values": ("Female", "Male"),
        "any_case": True,
        "same": {"Female": ("F",), "Male": ("M",)},
        "trim": True,
        "empty": ("n/a",),
        "missing": True,
    }


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        (["$1,234.50", "$5", "-$0.75"], {"thousands": ",", "signs": ("$",)}),
        (["1.234,50 EUR", "5 EUR"], {"thousands": ".", "decimal": ",", "signs": ("EUR",)}),
        (["0,5", "12,25"], {"decimal": ","}),
        (["1 234", "5"], {"thousands": " "}),
    ],
)
def test_numbers_as_people_write_them(texts, wanted):
    found = settings(texts)
    assert found["type"] in ("integer", "number")
    assert {k: found.get(k) for k in ("thousands", "decimal", "signs") if k in found} == wanted


def test_codes_are_no_grouped_numbers():
    assert settings(["02.138", "02.139"])["type"] == "category"


def test_dates_in_two_spellings():
    found = settings(["31/12/2024", "2024-11-30", "1/2/2024"] * 3)
    assert found["type"] == "date"
    assert set(found["format"]) == {"%d/%m/%Y", "%Y-%m-%d"}
    assert any("ways" in note for note in guess(["31/12/2024", "2024-11-30"]).seen)


HOUSE = "The patient said that it hurts for days, number {}"


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("contact", [f"p{i}@mail.example.org" for i in range(30)]),
        ("reach", [f"+44 20 7946 {i:04}" for i in range(30)]),
        ("phone", [str(2079460000 + i) for i in range(30)]),
        ("phone", list(range(2079460000, 2079460030))),
        ("last_name", ["Smith", "Jones", "Smith"]),
        ("patientName", ["Ann", "Bob"]),
        ("who", [f"{a}{b} Smith" for a in "ABCDEFG" for b in ("nna", "erta", "ob", "im")]),
        ("said", [HOUSE.format(i) for i in range(30)]),
        ("comment", ["ok", "fine"]),
    ],
)
def test_what_names_or_describes_people_is_hidden(name, texts):
    assert settings(texts, name=name, copies=1) == {"type": "text", "hidden": True}


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("ward_name", ["North", "South"]),
        ("amount", ["1 234 567", "2 345 678"] + [f"1 234 {i}" for i in range(100, 130)]),
        ("day", [f"2024-01-{i:02}" for i in range(1, 29)]),
        ("place", ["New York", "Los Angeles"] * 9),
    ],
)
def test_what_does_not_is_not(name, texts):
    assert not guess(sorted(set(texts)), name=name).settings.get("hidden")


def test_huge_numbers_do_not_break_anything():
    assert settings([2**62 + 1, 5])["type"] == "identifier"
    assert settings([1e300, -1e300, 0.5])["hidden"]


def test_what_was_learned_waits_for_review():
    for values in ([1, 2], ["a", "b"], [True], [0.5], [dt.date(2020, 1, 1)]):
        assert guess(values).settings["review"] is True


def decimals_of_one(value):
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return max(0, -exponent)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.none(), min_size=1))
@example([6466.06, None, 5.0, -0.0, 1e-7, 1e22, 100.25])
@example([5e-324, 1.7976931348623157e308])
def test_decimals_are_those_of_the_shortest_text(values):
    expected = max((decimals_of_one(v) for v in values if v is not None), default=0)
    assert _decimals(pa.array(values, pa.float64())) == expected
