import datetime as dt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.anonymize.hierarchy import dates, guess, intervals, prefixes, star
from discreet.errors import InvalidInput
from sittings import examples


def test_intervals_of_whole_numbers_and_of_others():
    found = intervals("age", [17, 20, 24, 36, None])
    assert found.path(17) == ("17", "16-17", "16-19", "16-23", "*")
    assert found.path(24) == ("24", "24-25", "24-27", "24-31", "*")
    assert found.path(None) == ("", "", "", "", "*")
    assert intervals("t", [0.0, 0.3, 25.0]).path(0.3)[:2] == ("0.3", "[0, 0.5)")


def test_intervals_build_themselves():
    found = intervals("age", list(range(17, 91)))
    assert found.path(17)[1] == "16-17"
    assert 4 <= found.levels <= 8
    assert intervals("x", [5, 5]).levels == 2
    assert intervals("x", [None]).path(None) == ("", "*")


@given(st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=30))
@settings(max_examples=examples(100), deadline=None)
def test_intervals_nest_and_hold_their_numbers(numbers):
    found = intervals("x", numbers)  # the constructor checks that levels nest
    for number in numbers:
        for label in found.path(number)[1:-1]:
            ends = label.strip("[)").split(", ") if "[" in label else label.rsplit("-", 1)
            if "[" in label:
                slack = 1e-6 * (1 + abs(number))
                assert float(ends[0]) - slack <= number <= float(ends[1]) + slack


def test_texts_are_no_numbers():
    with pytest.raises(InvalidInput, match="not a number"):
        intervals("age", ["young"])


def test_prefixes():
    found = prefixes("zip", ["02139", "02141", None])
    assert found.path("02139") == ("02139", "0213*", "021**", "02***", "0****", "*")
    assert found.path(None) == ("", "", "", "", "", "*")
    short = prefixes("code", ["a", "abc"])
    assert short.path("a") == ("a", "a**", "a**", "*")
    assert short.path("abc") == ("abc", "ab*", "a**", "*")


def test_dates():
    found = dates("birth", [dt.date(1999, 12, 31), "2004-02-29", None])
    assert found.path("1999-12-31") == ("1999-12-31", "1999-12", "1999", "1990s", "*")
    assert found.path("2004-02-29")[3] == "2000s"
    assert found.path(None) == ("", "", "", "", "*")
    with pytest.raises(InvalidInput, match="not a date"):
        dates("birth", ["yesterday"])


def test_the_kind_is_guessed():
    assert guess("d", [dt.date(2001, 1, 1)]).levels == 5
    assert guess("d", ["2001-01-01", "2001-01-02"]).levels == 5
    assert guess("n", [1, 2, 50]).path(50)[1] == "50-51"
    assert guess("z", ["02139", "02141"]).path("02139")[1] == "0213*"
    assert guess("c", ["red", "green"]).levels == 2
    assert guess("b", [True, False]).path(True) == ("true", "*")
    assert guess("x", [None]).path(None) == ("", "*")
    assert star("c", ["red", None]).path(None) == ("", "*")
