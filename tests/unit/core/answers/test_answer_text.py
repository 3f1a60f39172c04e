"""Values the way people read them."""

import pytest

from discreet.core.answers.answer_text import PrintedTable, shown


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "NULL"),
        (True, "True"),
        (1234567, "1,234,567"),
        (-5.0, "-5"),
        (0.1234567, "0.123457"),
        (12345.678, "12,345.68"),
        ("x", "x"),
        (1e300, f"{1e300:,.2f}"),
    ],
)
def test_shown(value, expected):
    assert shown(value) == expected


def test_long_answers_are_cut():
    rows = tuple((i,) for i in range(100))
    text = PrintedTable.of(("n",), rows, ((1.0,),) * 100, noisy=(0,)).as_text("end")
    assert "… 40 more rows" in text
    assert text.endswith("end")


def test_an_unknown_error_is_called_so():
    assert "unknown" in PrintedTable.of(("m",), ((5,),), ((None,),), noisy=(0,)).as_text("")


def test_numbers_stand_to_the_right():
    found = PrintedTable.of(("name", "n"), (("a", 5), ("bb", 500)), ((None, 1.0),) * 2, noisy=(1,))
    lines = found.as_text("")
    assert lines.splitlines()[2].startswith("a       5")
