"""Values the way people read them."""

import math
import random

import pytest

from discreet.base.answer_text import PrintedTable, RankError, shown, shown_up


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


def test_the_size_of_noise_is_never_said_too_small():
    rng = random.Random(3)
    for size in (rng.uniform(0, 10) ** rng.randint(1, 5) for _ in range(2000)):
        said = float(shown_up(size).replace(",", ""))
        assert size * (1 - 1e-11) <= said <= size * 1.00002 + 0.01 * (size >= 1000)
    assert [shown_up(size) for size in (6.0, 0.1, 0.3, math.inf)] == [
        "6",
        "0.1",
        "0.3",
        "unbounded",
    ]


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


def test_the_error_of_each_column_is_one_sentence():
    rows, errors = ((1, 2, 3), (4, 5, 6)), ((6.0, None, None), (6.0, 2.5, None))
    ends = ((None, (0, math.inf), None), (None, (2.5, 7.5), None))
    ranks = ((None, None, RankError(2, 9)), (None, None, RankError(2, 4)))
    found = PrintedTable.of(("n", "n", "m"), rows, errors, ends, ranks, noisy=(0, 1, 2))
    assert found.error_lines() == [
        "n: ± 6 (95%)",
        "n: noise unbounded; ± 2.5 (95%)",
        "m: rank ± 2 of 9 rows; too noisy to use: rank ± 2 of 4 rows (95%)",
    ]
    assert found.header == ["n", "noise ±", "n", "noise ±", "m", "error"]


def test_many_different_errors_are_counted():
    errors = tuple((float(i),) for i in range(1, 100))
    found = PrintedTable.of(("n",), ((0,),) * 99, errors, noisy=(0,))
    assert found.error_lines() == ["n: ± 1; ± 2; ± 3; and 96 others (95%)"]
